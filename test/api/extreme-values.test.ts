import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ApiCaller, type Call } from '../support/api-caller.js';
import { startTestDaemon } from '../support/daemon.js';
import { DocumentedApi, type OpenApiDocument } from '../support/documented-api.js';
import { readQuestions } from '../support/every-answer.js';
import {
  extremeAlerts,
  extremeItems,
  extremeLimits,
  extremeLogs,
  extremePoints,
  extremePrompts,
  extremeQueries,
  extremeSpans,
  oneExtremeEach,
} from '../support/extreme-values.js';
import { neverDiffers } from '../support/property.js';
import { testFolder } from '../support/test-folder.js';
import { anItem } from '../support/trace-batch.js';
import { TestStore } from '../storage/duckdb/test-store.js';

const HOUR_MS = 3_600_000;
/** Number of objects of each kind whose routes are read. */
const MOST_IDS = 40;

void t.test('accepted extreme values survive reopening, listing, aggregation and rebuilds', async (t) => {
  await neverDiffers(
    t,
    { runs: 3, ms: 2500 },
    [
      extremeItems,
      extremeSpans,
      extremePoints,
      extremeLogs,
      extremePrompts,
      extremeAlerts,
      extremeLimits,
      extremeQueries,
    ],
    async (items, spans, points, logs, prompts, alerts, limits, queries) => {
      const directory = testFolder(t);
      const first = await startTestDaemon(t, { directory });
      const api = new ExtremeApi(first.url, first.key);
      await api.send([anItem({ trace: { started_at: '2020-01-01T00:00:00Z', ended_at: null } })]);
      const all = [...oneExtremeEach(), ...items];
      for (let at = 0; at < all.length; at += 20)
        await api.survives('POST', '/traces/batch', { json: { traces: all.slice(at, at + 20) } });
      for (const json of spans) await api.survives('POST', '/otlp/v1/traces', { json });
      for (const json of points) await api.survives('POST', '/otlp/v1/metrics', { json });
      for (const json of logs) await api.survives('POST', '/otlp/v1/logs', { json });
      for (const json of prompts) await api.survives('POST', '/dashboard/prompts', { json });
      for (const json of alerts) await api.survives('POST', '/alerts', { json });
      for (const limit of limits) await api.limitUser(limit);
      await api.readEverything(queries);
      await first.daemon.shutdown();

      const second = await startTestDaemon(t, { directory, key: first.key });
      const again = new ExtremeApi(second.url, first.key);
      await again.readEverything(queries);
      const rebuilt = await again.survives('POST', '/admin/service-map/rebuild', { json: {} });
      if (rebuilt.status !== 200) throw new Error(`the map: ${JSON.stringify(rebuilt.body)}`);
      await second.daemon.shutdown();
      noErrors([...first.logs, ...second.logs]);

      await ages(t, join(directory, 'jackdaw.duckdb'));
      const third = await startTestDaemon(t, { directory, key: first.key });
      await new ExtremeApi(third.url, first.key).readEverything(queries);
      await third.daemon.shutdown();
      noErrors(third.logs);
    },
  );
});

class ExtremeApi extends ApiCaller {
  /** A call that may be rejected but must not fail. */
  async survives(method: string, path: string, call: Call = {}): ReturnType<ApiCaller['call']> {
    const answer = await this.call(method, path, call);
    if (answer.status < 500) return answer;
    const sent = JSON.stringify(call.json ?? null).slice(0, 1000);
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)} to ${sent}`);
  }

  async limitUser(monthly_event_limit: number | null): Promise<void> {
    const email = `${String(monthly_event_limit)}@example.com`;
    await this.survives('POST', '/admin/users', { json: { email, name: 'x', monthly_event_limit } });
  }

  /** Every read route, without and with queries. */
  async readEverything(queries: readonly string[]): Promise<void> {
    const documented = new DocumentedApi(await this.get<OpenApiDocument>('/openapi.json'));
    const asked = new Set<string>();
    for (const { path, operation, place, queries: plain } of await readQuestions(this, documented, {
      mostIds: MOST_IDS,
    })) {
      const more = asked.has(path) ? [] : queries;
      asked.add(path);
      for (const query of [...plain, ...more]) await this.#read(documented, operation, `${place}?${query}`);
    }
  }

  async #read(
    documented: DocumentedApi,
    operation: Parameters<DocumentedApi['faults']>[0],
    path: string,
  ): Promise<void> {
    const answer = await this.survives('GET', path);
    const faults = documented.faults(operation, answer);
    if (faults.length > 0) throw new Error(`GET ${path}: ${answer.status}, ${faults.join('; ')}`);
  }
}

/** Runs retention and waits for all earlier work. */
async function ages(t: Test, path: string): Promise<void> {
  const days = { traceRetentionDays: 1, metricRetentionDays: 1, logRetentionDays: 1, eventRetentionDays: 1 };
  const opened = await TestStore.open(t, { path, ...days });
  const { logger } = opened.settings;
  const [user] = await opened.control.accounts.listUsers();
  const old = async (): Promise<number> => {
    const runs = await opened.store.runs.list(
      user?.id ?? '',
      { end_time: Date.UTC(2021, 0) * 1000 },
      { offset: 0, limit: 1 },
    );
    return runs.count;
  };
  await opened.retained(HOUR_MS);
  if ((await old()) > 0) throw new Error('retention removed nothing');
  await opened.close();
  noErrors(logger.lines);
}

function noErrors(lines: readonly string[]): void {
  const wrong = lines.filter((line) => /"level":(50|60)|error|failed|could not/i.test(line));
  if (wrong.length > 0) throw new Error(`the log has ${wrong.join('\n').slice(0, 2000)}`);
}
