"""How Django finds the commands of `toolgate`."""

from django.apps import AppConfig


class ToolgateConfig(AppConfig):
    name = "toolgate"
