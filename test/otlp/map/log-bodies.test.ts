import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isUuid } from '../../../src/signal/ids.js';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { logsToRecords } from '../../../src/otlp/map/logs-to-records.js';
import { requestTypes } from '../../../src/otlp/wire/messages.js';
import { startApi } from '../../support/api.js';
import { without } from '../../storage/duckdb/shown-spans.js';
import { projectFolder, readProjectFile } from '../../support/project-file.js';

const FOLDER = 'test/testdata/otlp-logs';
const NOON = Date.UTC(2026, 0, 15, 12) * 1000;

/** A request in OTLP/JSON and the expected API response. */
interface Golden {
  readonly request: object;
  /** In full detail except ids, newest first. */
  readonly records: readonly object[];
}

interface Found {
  readonly count: number;
  readonly items: readonly (object & { readonly id: string })[];
}

void t.test('the API returns the sent bodies in both encodings', async (t) => {
  const api = await startApi(t);
  for (const file of readdirSync(join(projectFolder(), FOLDER))) {
    const golden = JSON.parse(readProjectFile(join(FOLDER, file))) as Golden;
    const request = decodeJson('logs', structuredClone(golden.request));
    for (const [encoding, body] of [
      ['json', JSON.stringify(golden.request)],
      ['x-protobuf', new Uint8Array(requestTypes.logs.encode(request).finish())],
    ] as const) {
      const { key } = await api.createUser(`${file}@${encoding}`, ['read', 'write']);
      await fetch(`${api.url}/api/v1/otlp/v1/logs`, {
        method: 'POST',
        headers: { 'content-type': `application/${encoding}`, authorization: `Bearer ${key}` },
        body,
      });
      const found = await api.get<Found>('/dashboard/logs/search?details=true', key);
      t.equal(found.count, golden.records.length, `${file} in ${encoding}`);
      t.ok(found.items.every(({ id }) => isUuid(id)));
      t.strictSame(
        found.items.map((record) => without(record, 'id')),
        golden.records,
      );
    }
  }
});

void t.test('a record without time gets its arrival time, and an empty record is kept', (t) => {
  const { batch, rejected } = logsToRecords(
    { resourceLogs: [{ scopeLogs: [{ logRecords: [{}, { observedTimeUnixNano: '0' }] }] }, {}] },
    { tenant: 'a-user', receivedAt: NOON },
  );
  t.strictSame(rejected, []);
  t.equal(batch.items.length, 2);
  for (const record of batch.items) {
    t.match(record, {
      timestamp: NOON,
      observed_at: null,
      severity: 'info',
      body: null,
      trace_id: null,
      attributes: {},
      origin: { resource: {}, scope: null, serviceName: '' },
    });
  }
  t.end();
});

void t.test('ids follow the order of records in a request', (t) => {
  const logRecords = Array.from({ length: 10_000 }, () => ({}));
  const { batch } = logsToRecords(
    { resourceLogs: [{ scopeLogs: [{ logRecords }] }] },
    { tenant: 'a-user', receivedAt: NOON },
  );
  const ids = batch.items.map(({ id }) => id);
  t.strictSame(ids, [...ids].sort());
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((id) => isUuid(id) && id[14] === '7'));
  t.end();
});
