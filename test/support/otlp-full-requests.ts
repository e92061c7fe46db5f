import type { KeyValue, OtlpRequests } from '../../src/otlp/wire/requests.js';
import { START } from './otlp-requests.js';

const LATER = '1768478401500000000';
const TRACE_ID = Buffer.from('5b8efff798038103d269b633813fc60c', 'hex');
const SPAN_ID = Buffer.from('eee19b7ec3c1b174', 'hex');

const attributes: readonly KeyValue[] = [
  { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
  { key: 'gen_ai.usage.input_tokens', value: { intValue: 120 } },
  { key: 'gen_ai.input.messages', value: { stringValue: '[{"role":"user","parts":[{"type":"text"}]}]' } },
  { key: 'flag', value: { boolValue: true } },
  { key: 'ratio', value: { doubleValue: 0.25 } },
  {
    key: 'list',
    value: { arrayValue: { values: [{ stringValue: 'grüße 🎉' }, { intValue: '9007199254740993' }] } },
  },
  { key: 'map', value: { kvlistValue: { values: [{ key: 'inner', value: { boolValue: false } }] } } },
  { key: 'none', value: {} },
];
const resource = {
  attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }],
  droppedAttributesCount: 1,
};
const scope = { name: 'library', version: '1.2.3', attributes, droppedAttributesCount: 2 };
const schemaUrl = 'https://opentelemetry.io/schemas/1.30.0';

const point = { attributes, startTimeUnixNano: START, timeUnixNano: LATER, flags: 0 };
const exemplars = [
  { filteredAttributes: attributes, timeUnixNano: LATER, asDouble: 1.5, traceId: TRACE_ID, spanId: SPAN_ID },
  { timeUnixNano: LATER, asInt: '-7' },
];
const about = { description: 'What it is.', unit: 'ms', metadata: attributes };

/** A request of each signal with every existing field. */
export const FULL: OtlpRequests = {
  traces: {
    resourceSpans: [
      {
        resource,
        scopeSpans: [
          {
            scope,
            spans: [
              {
                traceId: TRACE_ID,
                spanId: SPAN_ID,
                traceState: 'a=b',
                parentSpanId: Buffer.from('eee19b7ec3c1b173', 'hex'),
                flags: 257,
                name: 'chat gpt-4o',
                kind: 3,
                startTimeUnixNano: START,
                endTimeUnixNano: LATER,
                attributes,
                droppedAttributesCount: 1,
                events: [{ timeUnixNano: START, name: 'exception', attributes, droppedAttributesCount: 3 }],
                droppedEventsCount: 1,
                links: [
                  {
                    traceId: TRACE_ID,
                    spanId: SPAN_ID,
                    traceState: 'c=d',
                    attributes,
                    droppedAttributesCount: 1,
                    flags: 1,
                  },
                ],
                droppedLinksCount: 1,
                status: { message: 'it broke', code: 2 },
              },
            ],
          },
        ],
        ...{ schemaUrl },
      },
    ],
  },
  metrics: {
    resourceMetrics: [
      {
        resource,
        scopeMetrics: [
          {
            scope,
            metrics: [
              { name: 'gauge', ...about, gauge: { dataPoints: [{ ...point, asDouble: -0.5, exemplars }] } },
              {
                name: 'sum',
                ...about,
                sum: {
                  dataPoints: [{ ...point, asInt: '9007199254740993', exemplars }],
                  aggregationTemporality: 2,
                  isMonotonic: true,
                },
              },
              {
                name: 'histogram',
                ...about,
                histogram: {
                  dataPoints: [
                    {
                      ...point,
                      count: 3,
                      sum: 4.5,
                      bucketCounts: [1, 2, 0],
                      explicitBounds: [0, 2.5],
                      exemplars,
                      min: 0.5,
                      max: 2,
                    },
                  ],
                  aggregationTemporality: 1,
                },
              },
              {
                name: 'exponential',
                ...about,
                exponentialHistogram: {
                  dataPoints: [
                    {
                      ...point,
                      count: 6,
                      sum: 10,
                      scale: -1,
                      zeroCount: 1,
                      positive: { offset: -2, bucketCounts: [1, 2] },
                      negative: { offset: 3, bucketCounts: [2] },
                      exemplars,
                      min: -9,
                      max: 4,
                      zeroThreshold: 0.001,
                    },
                  ],
                  aggregationTemporality: 2,
                },
              },
              {
                name: 'summary',
                ...about,
                summary: {
                  dataPoints: [
                    {
                      ...point,
                      count: 5,
                      sum: 7.5,
                      quantileValues: [
                        { quantile: 0.5, value: 1 },
                        { quantile: 1, value: 3 },
                      ],
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  },
  logs: {
    resourceLogs: [
      {
        resource,
        scopeLogs: [
          {
            scope,
            logRecords: [
              {
                timeUnixNano: START,
                observedTimeUnixNano: LATER,
                severityNumber: 13,
                severityText: 'WARN',
                body: { stringValue: 'half the disk is full' },
                attributes,
                droppedAttributesCount: 1,
                flags: 1,
                traceId: TRACE_ID,
                spanId: SPAN_ID,
                eventName: 'disk.filling',
              },
              { body: { kvlistValue: { values: attributes } } },
              { body: { bytesValue: Buffer.from([0, 255]) } },
            ],
          },
        ],
      },
    ],
  },
};
