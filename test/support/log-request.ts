/** Short form of a log record to send. */
export interface LogToSend {
  readonly body: string | object;
  readonly nanos: bigint;
  readonly severity?: number;
  /** 32 hex digits. */
  readonly traceId?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** An OTLP/JSON request with log records of one service. */
export function logRequest(service: string, logs: readonly LogToSend[]): object {
  return {
    resourceLogs: [
      {
        resource: { attributes: [textAttribute('service.name', service)] },
        scopeLogs: [
          {
            logRecords: logs.map(({ body, nanos, severity = 9, traceId = '', attributes = {} }) => ({
              timeUnixNano: String(nanos),
              severityNumber: severity,
              body: typeof body === 'string' ? { stringValue: body } : body,
              traceId,
              attributes: Object.entries(attributes).map(([key, value]) => textAttribute(key, value)),
            })),
          },
        ],
      },
    ],
  };
}

function textAttribute(key: string, value: string): object {
  return { key, value: { stringValue: value } };
}
