FROM python:3.12-slim
WORKDIR /opt/masgraph
COPY constraints.txt pyproject.toml README.md LICENSE masgraph.py ./
COPY graphstore graphstore
COPY ingest ingest
COPY mining mining
COPY analytics analytics
COPY app app
COPY examples examples
RUN pip install --no-cache-dir --constraint constraints.txt '.[ui]' \
    && useradd --create-home masgraph \
    && mkdir -p /data && chown masgraph /data
USER masgraph
WORKDIR /data
ENTRYPOINT ["masgraph"]
CMD ["--help"]
