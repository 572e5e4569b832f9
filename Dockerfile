# The locked packages in one stage, what runs in another. Put your own tools on top: FROM toolgate, COPY my_tools.py /tools/.
FROM python:3.11-slim AS made
COPY requirements/runtime.txt /requirements.txt
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement /requirements.txt
COPY pyproject.toml README.md LICENSE /app/
COPY toolgate /app/toolgate
COPY approvals /app/approvals
COPY templates /app/templates
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation --editable /app
RUN TOOLGATE_DATA_DIR=/tmp/data TOOLGATE_STATIC_DIR=/app/static \
    /venv/bin/python -m django collectstatic --no-input --settings toolgate.settings

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /tools --create-home toolgate && mkdir /data && chown toolgate /data
COPY --from=made /venv /venv
COPY --from=made /app /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/tools TOOLGATE_DATA_DIR=/data TOOLGATE_STATIC_DIR=/app/static
WORKDIR /tools
USER toolgate
VOLUME /data
EXPOSE 8000 8001
CMD ["toolgate", "web", "--host", "0.0.0.0"]
