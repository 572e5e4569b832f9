"""From here on the database refuses to change or delete an event."""

from django.db import migrations

from approvals.models.append_only import INSTALL, REMOVE


def install(apps, schema_editor):
    for statement in INSTALL[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def remove(apps, schema_editor):
    for statement in REMOVE[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
