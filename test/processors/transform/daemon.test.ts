import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { startTestDaemon } from '../../support/daemon.js';
import { aSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { TRACE_ID } from '../../support/mapped-span.js';

const OVERLAY = `
processors:
  transform:
    spans:
      - when: 'has(span.metadata.team)'
        set: { name: 'span.metadata.team + ": " + span.name', metadata.seen: 'true' }
        delete: [metadata.team]
service:
  pipelines:
    traces: { processors: [validation, transform, quota, cost, service_map] }
`;

void t.test('stores the result of a rule on an OTLP span', async (t) => {
  const { url, otlpUrl, key } = await startTestDaemon(t, { overlay: OVERLAY });
  const authorization = `Bearer ${key}`;
  const request = tracesOf(
    aSpan(1, { attributes: toKeyValues({ team: 'ours', kept: 1 }) }),
    aSpan(2, { attributes: toKeyValues({ kept: 2 }) }),
  );
  const sent = await fetch(`${otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(protobufOf('traces', request)),
  });
  t.equal(sent.status, 200);
  const trace = `${url}/api/v1/dashboard/traces/${TRACE_ID}`;
  const { spans } = (await (await fetch(trace, { headers: { authorization } })).json()) as {
    readonly spans: readonly { readonly name: string; readonly span_id: string }[];
  };
  t.strictSame(spans.map(({ name }) => name).sort(), ['ours: span 1', 'span 2']);
  const id = spans.find(({ name }) => name === 'ours: span 1')?.span_id ?? '';
  const detail = await (await fetch(`${trace}/spans/${id}`, { headers: { authorization } })).text();
  t.match(detail, '"seen"');
  t.match(detail, '"kept"');
  t.notMatch(detail, '"team"');
});
