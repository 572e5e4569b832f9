#!/usr/bin/env python
"""Django's commands, for those who know them; `toolgate` has the ones that everybody needs."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolgate.settings")
    execute_from_command_line(sys.argv)
