export interface GaugePoint {
  readonly name: string;
  readonly value: number;
  readonly nanos: bigint;
  readonly attributes: Readonly<Record<string, string | number | bigint>>;
}

/** An OTLP/JSON request with gauge points, each in its own metric. */
export function gaugeRequest(service: string, points: readonly GaugePoint[]): object {
  const metrics = points.map(({ name, value, nanos, attributes }) => ({
    name,
    unit: 's',
    description: 'Seconds',
    gauge: {
      dataPoints: [{ timeUnixNano: String(nanos), asDouble: value, attributes: keyValues(attributes) }],
    },
  }));
  return {
    resourceMetrics: [
      { resource: { attributes: keyValues({ 'service.name': service }) }, scopeMetrics: [{ metrics }] },
    ],
  };
}

function keyValues(attributes: Readonly<Record<string, string | number | bigint>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));
}
