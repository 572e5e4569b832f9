"""The demonstration's tools. What they do is real and harmless, and can be looked at under the data directory."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from email.message import EmailMessage
from typing import Any

from toolgate import Context, Error, Function, FunctionParam, Interrupt, Registry, tool
from toolgate.demonstration import shop

registry = Registry()
shop.build()


@dataclass(frozen=True)
class Order:
    number: int
    customer: str
    email: str
    total: Decimal
    currency: str
    status: str


def find_order(number: Any) -> Order | None:
    with shop.database() as database:
        row = database.execute("SELECT * FROM orders WHERE number = ?", (number,)).fetchone()
    return Order(**{**dict(row), "total": Decimal(row["total"])}) if row else None


# --- a refund: the parser fetches the order, so the reviewer sees whose money it is ------------------------------------


def parse_refund(arguments: dict[str, Any], context: Any) -> dict[str, Any] | Error:
    order = find_order(arguments.get("order"))
    if order is None:
        return Error(f"There is no order {arguments.get('order')!r}. Look the number up with look_up_order.")
    try:
        amount = Decimal(str(arguments.get("amount"))).quantize(Decimal("0.01"))
    except InvalidOperation:
        return Error("amount must be a number, such as 20 or 19.90.")
    if not 0 < amount <= order.total:
        return Error(f"amount must be above 0 and at most {order.total} {order.currency}, the order's total.")
    return {"order": order, "amount": amount, "reason": str(arguments.get("reason", ""))}


def refund(arguments: dict[str, Any], context: Any) -> str:
    order, amount = arguments["order"], arguments["amount"]
    shop.note_run(context["idempotency_key"], "refund_order")
    with shop.database() as database:
        values = (context["idempotency_key"], order.number, str(amount))
        database.execute("INSERT OR IGNORE INTO refunds VALUES (?, ?, ?, datetime('now'))", values)
    return f"Refunded {amount} {order.currency} to {order.customer} for order {order.number}."


registry.register(
    Function(
        name="refund_order",
        description="Pays back money for an order of the shop.",
        display_text="Refund an order",
        parameters=[
            FunctionParam("order", "integer", required=True, description="The order's number"),
            FunctionParam("amount", "number", required=True, description="How much to pay back"),
            FunctionParam("reason", "string", description="Why, in a few words"),
        ],
        parse_args=parse_refund,
        function=refund,
    ),
    risk="high",
    headline="Refund {amount} {order.currency} to {order.customer} for order {order.number}",
)


# --- an SQL update: the parser runs it in a transaction that is rolled back, and shows the rows ------------------------


def parse_sql(arguments: dict[str, Any], context: Any) -> dict[str, Any] | Error:
    statement = str(arguments.get("statement", "")).strip().rstrip(";")
    if not statement.lower().startswith("update orders "):
        return Error("statement must be an UPDATE of the table orders.")
    connection = sqlite3.connect(shop.DATABASE, timeout=30, isolation_level=None)
    try:
        connection.execute("BEGIN")
        before = connection.execute("SELECT * FROM orders ORDER BY number").fetchall()
        connection.execute(statement)
        after = connection.execute("SELECT * FROM orders ORDER BY number").fetchall()
    except sqlite3.Error as error:
        return Error(f"The database refuses the statement: {error}")
    finally:
        connection.rollback()
        connection.close()
    changes = [{"before": old, "after": new} for old, new in zip(before, after, strict=False) if old != new]
    return {"statement": statement, "rows": len(changes), "changes": changes}


def run_sql(arguments: dict[str, Any], context: Any) -> str:
    key = context["idempotency_key"]
    shop.note_run(key, "run_sql_update")
    with shop.database() as database:  # the key and the change are one transaction: a second run finds what the first one did
        done = database.execute("SELECT changed FROM updates WHERE idempotency_key = ?", (key,)).fetchone()
        if done:
            return f"{done['changed']} rows had been changed already."
        changed = database.execute(arguments["statement"]).rowcount
        database.execute("INSERT INTO updates VALUES (?, ?)", (key, changed))
    return f"{changed} rows changed."


registry.register(
    Function(
        name="run_sql_update",
        description="Changes rows of the table orders with one UPDATE statement.",
        display_text="Change the shop's database",
        parameters=[FunctionParam("statement", "string", required=True, description="One SQL UPDATE of orders")],
        parse_args=parse_sql,
        function=run_sql,
    ),
    risk="high",
    approvals=2,
    headline="Change the table orders; rows: {rows}",
)


# --- mail --------------------------------------------------------------------------------------------------------------


@registry.register(risk="medium", headline="Send “{subject}” to {to}")
@tool(display_text="Send a mail")
def send_mail(to: str, subject: str, body: str, context: Context) -> str:
    """Sends a mail: writes it to a folder.

    Args:
        to: The address of the receiver.
        subject: The subject line.
        body: The text.
    """
    message = EmailMessage()
    message["To"], message["Subject"] = " ".join(to.split()), " ".join(subject.split())
    message.set_content(body)
    shop.note_run(context["idempotency_key"], "send_mail")
    (shop.MAIL / f"{context['idempotency_key']}.eml").write_bytes(bytes(message))
    return f"Sent to {to}."


# --- deleting files: asks before it deletes more than one --------------------------------------------------------------


@registry.register(risk="medium", headline="Delete the files that match {pattern}")
@tool(display_text="Delete files")
def delete_files(pattern: str, context: Context) -> str | Interrupt:
    """Deletes files of the folder whose names match.

    Args:
        pattern: A name, or one with * such as report-*.txt
    """
    if "/" in pattern or ".." in pattern:
        return "Only names within the folder are possible; nothing was deleted."
    found = sorted(path.name for path in shop.FILES.glob(pattern))
    if len(found) > 1 and not context["interrupts"]:
        question = {"type": "object", "properties": {"delete": {"enum": ["all", "none"]}}, "required": ["delete"]}
        return Interrupt(f"{len(found)} files would go. Delete them?", {"files": found, "response_schema": question})
    if context["interrupts"] and context["interrupts"][-1]["answer"]["delete"] == "none":
        return "Nothing was deleted: a person said no."
    shop.note_run(context["idempotency_key"], "delete_files")
    for name in found:
        (shop.FILES / name).unlink(missing_ok=True)
    return f"Deleted {', '.join(found) or 'nothing'}."


# --- allowed at once, slow, failing, denied, declared only -------------------------------------------------------------


@registry.register(risk="low", require_approval=False, headline="Look up order {number}")
@tool(display_text="Look up an order")
def look_up_order(number: int) -> str:
    """Tells what is known of an order.

    Args:
        number: The order's number.
    """
    order = find_order(number)
    if order is None:
        return f"There is no order {number}."
    return f"Order {number}: {order.customer}, {order.total} {order.currency}, {order.status}."


@registry.register(risk="low", require_approval=False, time_limit=timedelta(seconds=90))
@tool(display_text="Make a slow report")
def slow_report(seconds: float = 3.0) -> str:
    """Makes a report that takes its time.

    Args:
        seconds: How long, at most 60.
    """
    time.sleep(min(seconds, 60))
    return f"The report is ready after {seconds:g} seconds."


@registry.register(risk="low")
@tool(display_text="Fail")
def always_fails() -> str:
    """Fails each time, to show what an agent and an operator see then."""
    raise RuntimeError("this tool fails each time")


registry.register(
    Function(
        name="wire_abroad",
        description="Sends money to an account abroad.",
        display_text="Wire money abroad",
        parameters=[FunctionParam("iban", "string", required=True), FunctionParam("amount", "number", required=True)],
        function=lambda arguments, context: "never reached",
    ),
    risk="high",
    deny=True,
)
registry.register(
    Function(
        name="open_door",
        description="Opens the door of the shop. The agent has the key: it runs this itself once people agree.",
        display_text="Open the shop's door",
        parameters=[FunctionParam("minutes", "integer", required=True, description="How long it stays open")],
    ),
    risk="medium",
    headline="Open the shop's door for {minutes} minutes",
)
