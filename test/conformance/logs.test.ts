import t, { type Test } from 'tap';
import { uuidV7, uuidV7InOrder } from '../../src/signal/ids.js';
import { searchLogs, shownLog } from '../storage/duckdb/log-search.js';
import { SEVERITIES, type LogRecord } from '../../src/signal/log-record.js';
import { MOST_LOG_SERVICES, type LogFilter } from '../../src/storage/contracts/logs.js';
import { logMatcher, textsOf } from '../../src/storage/shared/matches-log.js';
import { aLog, fromService } from '../support/log-records.js';
import { NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

function checkLogs(t: Test, open: OpenTelemetry): void {
  void t.test('pages have no gaps or repeats even if many records share one time', async (t) => {
    const opened = await open(t, { fileRows: 10 });
    const tenant = await opened.addUser();
    const logs = Array.from({ length: 95 }, () => aLog({ id: uuidV7(NOON / 1000) }));
    for (let at = 0; at < logs.length; at += 5)
      await opened.store.writer.logs({ tenant, items: logs.slice(at, at + 5) }, RECEIVED);
    const expected = logs
      .map(({ id }) => id)
      .sort()
      .reverse();
    for (const state of ['hot', 'moved', 'reopened']) {
      // One by one in a single state: each page is a read.
      for (const limit of state === 'moved' ? [1, 50] : [7, 1000]) {
        const ids: string[] = [];
        for (let offset = 0; offset < logs.length; offset += limit) {
          const page = await searchLogs(opened.store, tenant, { query: 'happened' }, { offset, limit });
          t.equal(page.count, logs.length);
          ids.push(...page.items.map(({ id }) => id));
        }
        t.strictSame(ids, expected, `${state}, ${limit} a page`);
        t.strictSame((await searchLogs(opened.store, tenant, {}, { offset: logs.length, limit })).items, []);
      }
      if (state === 'hot') await opened.settled();
      else await opened.reopen();
    }
  });

  void t.test('sorts late and future records by time', async (t) => {
    const opened = await open(t, { fileRows: 3 });
    const tenant = await opened.addUser();
    const seconds = [5, 1, 9, -3, 7, 2, 1e8, 4, 6, 0];
    for (const second of seconds)
      await opened.store.writer.logs(
        { tenant, items: [aLog({ timestamp: NOON + second * 1e6, body: `${second}` })] },
        RECEIVED,
      );
    const bodies = async () => (await searchLogs(opened.store, tenant)).items.map(({ body }) => Number(body));
    const expected = [...seconds].sort((a, b) => b - a);
    t.strictSame(await bodies(), expected);
    await opened.settled();
    t.strictSame(await bodies(), expected);
  });

  void t.test('streams large pages in parts, with details on request', async (t) => {
    const opened = await open(t, { fileRows: 4 });
    const tenant = await opened.addUser();
    const origin = {
      resource: { 'service.name': 'big', host: 'a' },
      scope: { name: 'lib' },
      serviceName: 'big',
    };
    const logs = Array.from({ length: 12 }, (_, i) =>
      aLog({
        id: uuidV7InOrder(NOON / 1000, i),
        body: `${i} ${'é'.repeat(500_000)}`,
        attributes: { i, '\u2028': '"' },
        observed_at: NOON + i,
        event_name: i === 0 ? null : 'big.event',
        origin,
      }),
    );
    for (const log of logs) await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      const { items } = await searchLogs(opened.store, tenant);
      t.strictSame(items, logs.map(shownLog).reverse(), state);
      const page = { offset: 11, limit: 5, details: true };
      t.strictSame((await searchLogs(opened.store, tenant, {}, page)).items, [
        {
          ...shownLog(logs[0] ?? aLog()),
          observed_at: '2026-01-15T12:00:00Z',
          severity_number: 9,
          severity_text: 'INFO',
          event_name: null,
          flags: 0,
          resource: { 'service.name': 'big', host: 'a' },
          scope: { name: 'lib' },
        },
      ]);
      await opened.settled();
    }
  });

  void t.test('facets count search results by severity, service and time', async (t) => {
    const opened = await open(t, { fileRows: 40 });
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const logs = Array.from({ length: 240 }, (_, i) =>
      aLog({
        timestamp: NOON + ((i * 37) % 100) * 1e6,
        severity: SEVERITIES[i % 7 === 0 ? 4 : i % 6] ?? 'info',
        origin: fromService(['shop', 'mail', 'O\'Neil "&"', `rare ${i % 130}`][i % 4] ?? ''),
        body: `payment ${i % 4 === 0 ? 'declined by bank' : 'accepted'}, ${i % 5 === 0 ? 'bank declined' : 'über'} ${i}`,
      }),
    );
    for (let at = 0; at < logs.length; at += 30)
      await opened.store.writer.logs({ tenant, items: logs.slice(at, at + 30) }, RECEIVED);
    await opened.store.writer.logs({ tenant: other, items: [aLog()] }, RECEIVED);
    const times = { start_time: NOON - 5e6, end_time: NOON + 90e6 };
    const filters: readonly Omit<LogFilter, 'start_time' | 'end_time'>[] = [
      {},
      { severity: 'error' },
      { service_name: 'O\'Neil "&"' },
      { severity: 'warn', service_name: 'shop' },
      { query: 'declined bank', severity: 'fatal' },
      { query: '"declined by bank"', service_name: 'mail' },
      { query: 'ÜBER accepted' },
      { query: 'nowhere' },
    ];
    for (const state of ['hot', 'moved']) {
      for (const filter of filters) {
        const found = await opened.store.logs.facets(tenant, filter, { interval: 7e6, ...times });
        const { severity, service_name, ...others } = filter;
        const ofAnySeverity = { ...others, ...(service_name !== undefined && { service_name }) };
        const ofAnyService = { ...others, ...(severity !== undefined && { severity }) };
        const all = foundIn(logs, { ...filter, ...times });
        const text = `${state}: ${JSON.stringify(filter)}`;
        t.equal(found.count, all.length, text);
        t.strictSame(
          new Map([...found.severities].filter(([, count]) => count > 0)),
          counted(foundIn(logs, { ...ofAnySeverity, ...times }).map(({ severity }) => severity)),
          text,
        );
        const services = [
          ...counted(foundIn(logs, { ...ofAnyService, ...times }).map(({ origin }) => origin.serviceName)),
        ].sort(([a, most], [b, less]) => less - most || (a < b ? -1 : 1));
        t.strictSame(
          found.services.map(({ name, count }) => [name, count]),
          services.slice(0, MOST_LOG_SERVICES),
          text,
        );
        t.strictSame(
          found.buckets.map(({ start, count }) => [start, count]),
          [...counted(all.map(({ timestamp }) => Math.floor(timestamp / 7e6) * 7e6))].sort(
            ([a], [b]) => a - b,
          ),
          text,
        );
        t.equal(
          found.buckets.reduce((sum, { errors }) => sum + errors, 0),
          all.filter(({ severity }) => severity === 'error' || severity === 'fatal').length,
          text,
        );
        t.equal(
          found.of_other_services,
          services.slice(MOST_LOG_SERVICES).reduce((sum, [, count]) => sum + count, 0),
          text,
        );
      }
      await opened.settled();
    }
  });

  void t.test('finds what a person sees in bodies, event names and attributes', async (t) => {
    const opened = await open(t, { fileRows: 4 });
    const tenant = await opened.addUser();
    for (const log of SEARCHED)
      await opened.store.writer.logs({ tenant, items: [{ ...log, id: uuidV7(NOON / 1000) }] }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      for (const [filter, expected] of SEARCHES) {
        const text = `${state}: ${JSON.stringify(filter)}`;
        const { count, items } = await searchLogs(opened.store, tenant, filter);
        t.strictSame(
          items.map(({ attributes }) => Number(attributes.n)).sort((a, b) => a - b),
          expected,
          text,
        );
        t.equal(count, expected.length, text);
        t.strictSame(
          foundIn(SEARCHED, filter).map(({ attributes }) => attributes.n),
          expected,
          `${text}, before it is stored`,
        );
        if (state === 'hot') continue;
        const times = { start_time: NOON - 5e6, end_time: NOON + 90e6 };
        const facets = await opened.store.logs.facets(tenant, filter, { interval: 7e6, ...times });
        t.equal(facets.count, expected.length, `${text}, counted`);
      }
      await opened.settled();
    }
  });

  void t.test('counts the records of a search by attributes', async (t) => {
    const opened = await open(t, { fileRows: 40 });
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const words = ['a "b"', "it's", 'ü'.repeat(300), ''];
    const logs = Array.from({ length: 200 }, (_, i) =>
      aLog({
        timestamp: NOON + ((i * 37) % 100) * 1e6,
        event_name: i % 3 === 0 ? 'tool_decision' : 'else',
        attributes: {
          ...(i % 5 > 0 && { 'user.id': words[i % 4] ?? '' }),
          'a/b~c': i % 2 === 0 ? 7 : { deep: [i % 4, null] },
        },
      }),
    );
    for (let at = 0; at < logs.length; at += 30)
      await opened.store.writer.logs({ tenant, items: logs.slice(at, at + 30) }, RECEIVED);
    await opened.store.writer.logs({ tenant: other, items: [aLog()] }, RECEIVED);
    const times = { start_time: NOON + 10e6, end_time: NOON + 90e6 };
    for (const filter of [{}, { query: 'tool decision', event_name: 'tool_decision', ...times }, times]) {
      const expected = counted(
        foundIn(logs, filter).map(({ attributes }) => {
          const { 'user.id': user = null, 'a/b~c': deep } = attributes;
          return JSON.stringify([
            typeof user === 'string' ? user.slice(0, 256) : user,
            JSON.stringify(deep),
            null,
          ]);
        }),
      );
      for (const state of ['hot', 'moved']) {
        const found = await opened.store.logs.groups(tenant, filter, ['user.id', 'a/b~c', 'none']);
        const text = `${state}: ${JSON.stringify(filter)}`;
        t.strictSame(
          new Map(found.groups.map(({ values, count }) => [JSON.stringify(values), count])),
          expected,
          text,
        );
        t.equal(found.counted_after, null, text);
        await opened.settled();
      }
    }
  });

  void t.test('finds the trace of a record by its id, for its owner only', async (t) => {
    const opened = await open(t, { fileRows: 2 });
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const traceId = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';
    const [bound, free] = [aLog({ trace_id: traceId }), aLog()];
    await opened.store.writer.logs({ tenant, items: [bound, free, aLog()] }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      t.equal(await opened.store.logs.findTrace(tenant, bound.id.toUpperCase()), traceId, state);
      t.equal(await opened.store.logs.findTrace(tenant, free.id), null);
      t.equal(await opened.store.logs.findTrace(tenant, uuidV7(NOON / 1000)), null);
      t.equal(await opened.store.logs.findTrace(other, bound.id), null);
      await opened.settled();
    }
  });
}

const SEARCHED: readonly LogRecord[] = [
  { body: { msg: 'Unhandled\nTraceback (most recent call last):\n\tValueError: boom' } },
  { body: '{"log":"{\\"text\\":\\"first\\\\nsecond\\"}\\n","name":"\\u6570\\u636e\\ud83d\\ude80"}' },
  { body: '2026-01-15T12:00:00Z stdout F {"message":"pool\\tdrained"}' },
  {
    body: '\x1b[31mERROR\x1b[39m \x1b[38;5;3m[PumpService]\x1b[39m pressure \x1b]8;;http://a.example\x07lost\x1b]8;;\x07',
  },
  { body: '数据库连接失败，请重试' },
  { body: 'データベースに接続できません' },
  { body: 'เชื่อมต่อฐานข้อมูลไม่ได้' },
  { body: 'deploy 🚀 done -> next' },
  { body: 'C:\\new\\table is: [not a list]' },
  {
    body: null,
    event_name: 'codex.user_prompt',
    attributes: { prompt: 'weather in Straße', 'http.status_code': 503 },
  },
  {
    body: null,
    // Rust's `tracing` names the place in the source.
    event_name: 'event src/telemetry.rs:12',
    attributes: {
      'event.name': 'codex.tool_result',
      'a/b~c': 'O\'Neil "x"',
      nested: { deep: ['inner words'] },
    },
  },
  { body: 'tail', attributes: { big: 'x '.repeat(5000) + 'unreachable', next: 'reachable \nafter' } },
  { body: '안녕하세요 데이터베이스가 猫' },
].map((log, n) => aLog({ ...log, attributes: { ...log.attributes, n } }));

const SEARCHES: readonly (readonly [LogFilter, readonly number[]])[] = [
  [{ query: 'Traceback' }, [0]],
  [{ query: 'nTraceback' }, []],
  [{ query: 'ValueError boom' }, [0]],
  [{ query: '"call last valueerror"' }, [0]],
  [{ query: 'msg' }, [0]],
  [{ query: 'second' }, [1]],
  [{ query: 'first text' }, [1]],
  [{ query: '数据' }, [1, 4]],
  [{ query: '🚀' }, [1, 7]],
  [{ query: 'drained stdout' }, [2]],
  [{ query: 'ERROR "error pumpservice pressure lost"' }, [3]],
  [{ query: '31mERROR' }, []],
  [{ query: '连接' }, [4]],
  [{ query: '数据库连接失败' }, [4]],
  [{ query: '败请' }, []],
  [{ query: '"请重试"' }, [4]],
  [{ query: 'データベース' }, [5]],
  [{ query: 'ﾃﾞｰﾀ 接続' }, [5]],
  [{ query: 'ฐานข้อมูล' }, [6]],
  [{ query: '데이터' }, [12]],
  [{ query: '猫' }, [12]],
  [{ query: '"deploy done"' }, [7]],
  [{ query: '->' }, [7]],
  [{ query: 'done🚀' }, [7]],
  [{ query: '!!!' }, []],
  [{ query: '""' }, []],
  [{ query: '"' }, []],
  [{ query: 'new table' }, [8]],
  [{ query: 'codex' }, [9, 10]],
  [{ query: '"codex user"' }, [9]],
  [{ query: 'STRASSE' }, []],
  [{ query: 'straße 503' }, [9]],
  [{ query: '"prompt weather"' }, []],
  [{ query: 'inner deep' }, [10]],
  [{ query: 'unreachable' }, []],
  [{ query: 'reach*' }, [11]],
  [{ query: '"codex us*"' }, [9]],
  [{ query: 'codex -weather' }, [10]],
  [{ query: 'codex -"codex user"' }, [10]],
  [{ query: 'codex -wea*' }, [10]],
  [{ query: 'straß* -deep' }, [9]],
  [{ query: 'reachable after' }, [11]],
  [{ event_name: 'codex.user_prompt' }, [9]],
  [{ event_name: 'codex.tool_result' }, [10]],
  [{ event_name: 'codex' }, []],
  [{ attributes: { 'a/b~c': 'O\'Neil "x"' } }, [10]],
  [{ attributes: { 'http.status_code': '503', prompt: 'weather in Straße' } }, [9]],
  [{ attributes: { 'http.status_code': '50' } }, []],
  [{ attributes: { nested: '{"deep":["inner words"]}' }, query: 'inner' }, [10]],
  [{ attributes: { missing: '' } }, []],
];

/** The records that match a filter, by the rules for records not yet stored. */
function foundIn(all: readonly LogRecord[], filter: LogFilter): LogRecord[] {
  const { fields, text } = logMatcher(filter);
  return all.filter((record) => fields(record) && (text === null || text(textsOf(record))));
}

/** Occurrences of each value. */
function counted<Value>(values: readonly Value[]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

await onEveryTelemetry(t, checkLogs);
