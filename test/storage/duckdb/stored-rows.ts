import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Database, identifier, literal } from '../../../src/storage/duckdb/files/database.js';
import { CALL_FLAGS } from '../../../src/storage/shared/priced-tokens.js';

/** The telemetry files of a closed store. */
export function filesOf(path: string): string[] {
  const base = basename(path, '.duckdb');
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(`${base}.`) && name.endsWith('.duckdb') && name !== basename(path))
    .map((name) => join(dirname(path), name))
    .sort();
}

/** Duplicate rows in the files of a closed store, one per line. Ignores leftover compacted segments. */
export async function duplicatesIn(path: string): Promise<string[]> {
  return await withFiles(path, async (query, catalogs) => {
    const found: string[] = [];
    const live = await notMoved(query, catalogs);
    for (const [table, key] of [
      ['spans', 'tenant, trace_id, span_id'],
      ['traces', 'tenant, trace_id'],
      ['payloads', 'tenant, trace_id, seq, first_line'],
      // One row before an agent is created and one at its creation.
      ['agents', 'agent_no, created_at'],
      ['logs', 'tenant, id'],
      ['prompt_links', 'tenant, prompt_no, trace_id, span_id'],
    ] as const) {
      const versions = table === 'spans' || table === 'traces' ? 'WHERE NOT replaces' : '';
      // A version that replaces another coexists with it until compaction.
      const all = live.map((catalog) => {
        const where = catalog === 'cold' ? '' : versions;
        return `SELECT ${key} FROM ${identifier(catalog)}.main.${table} ${where}`;
      });
      const rows = await query(
        `SELECT count(*) AS rows, count(DISTINCT (${key})) AS different FROM (${all.join(' UNION ALL ')})`,
      );
      const [row] = rows;
      if (row?.rows !== row?.different)
        found.push(`${table}: ${String(row?.rows)} rows, ${String(row?.different)} different`);
    }
    return found;
  });
}

/** Sums of the cold file of a closed store that do not match its rows, one per line. */
export async function wrongSumsIn(path: string): Promise<string[]> {
  const callsOf = (bit: number): string => `CASE WHEN (told & ${bit}) > 0 THEN calls ELSE 0 END`;
  const usual = (bit: string, what: string): string => `CASE WHEN ${bit} = 1 THEN ${what} ELSE 0 END`;
  const sums = {
    run_sums: {
      from: 'cold.main.traces',
      by: 'tenant, agent_no',
      parts: {
        runs: 'count(*)',
        running: 'count(*) FILTER (WHERE status = 0)',
        completed: 'count(*) FILTER (WHERE status = 1)',
        failed: 'count(*) FILTER (WHERE status = 2)',
        timed_out: 'count(*) FILTER (WHERE status = 3)',
        successes: 'count(*) FILTER (WHERE success)',
        failures: 'count(*) FILTER (WHERE NOT success)',
        priced: 'count(total_cost_usd)',
        'cost_whole * 1000000000::HUGEINT + cost_rest': 'sum(total_cost_usd)',
      },
    },
    point_sums: { from: 'cold.main.points', by: 'tenant, stream_no', parts: { points: 'count(*)' } },
    call_sums: {
      from: "(SELECT s.*, t.agent_no, (epoch_us(date_trunc('hour', s.started_at)) // 3600000000)::INTEGER AS hour, CASE WHEN s.type = 1 THEN coalesce(s.counted, 3) & 1 ELSE 0 END AS of_call, CASE WHEN s.type = 1 THEN coalesce(s.counted, 3) >> 1 ELSE 0 END AS of_cost FROM cold.main.spans s LEFT JOIN cold.main.traces t ON t.tenant = s.tenant AND t.trace_id = s.trace_id WHERE (s.type = 1 AND coalesce(s.counted, 3) <> 0) OR s.counted_tokens > 0 OR s.counted_cost > 0)",
      by: 'tenant, hour, agent_no, model',
      parts: {
        calls: 'count(*)',
        nanos: `sum(coalesce(counted_cost, ${usual('of_cost', 'cost_usd')})::HUGEINT)`,
        total_tokens: `sum(coalesce(counted_tokens, ${usual('of_call', 'total_tokens')})::HUGEINT)`,
        [callsOf(CALL_FLAGS.call)]: 'sum(of_call)',
        [callsOf(CALL_FLAGS.priced)]: 'sum(of_cost) FILTER (WHERE cost_usd IS NOT NULL)',
      },
    },
  };
  return await withFiles(path, async (query) => {
    const found: string[] = [];
    for (const [table, { from, by, parts }] of Object.entries(sums)) {
      const kept = Object.keys(parts).map((part, i) => `sum(${part}) AS p${i}`);
      const real = Object.values(parts).map((part, i) => `${part} AS p${i}`);
      const names = Object.keys(parts).map((_, i) => `coalesce(p${i}, 0)::VARCHAR AS p${i}`);
      const isAny = Object.keys(parts).map((_, i) => `coalesce(p${i}, 0) <> 0`);
      const columns = `${by}, ${names.join(', ')}`;
      const rows = (parts: string[], of: string): string =>
        `SELECT ${columns} FROM (SELECT ${by}, ${parts.join(', ')} FROM ${of} GROUP BY ${by}) WHERE ${isAny.join(' OR ')}`;
      const [one, other] = [rows(kept, `cold.main.${table}`), rows(real, from)];
      const wrong = await query(
        `SELECT 'kept' AS what, * FROM (${one} EXCEPT ${other}) UNION ALL SELECT 'stored' AS what, * FROM (${other} EXCEPT ${one})`,
      );
      found.push(...wrong.map((row) => `${table}: ${JSON.stringify(row)}`));
    }
    // Span kinds stay when their spans are removed, and one row may represent all.
    const kinds = 'tenant, agent_no, type, name, model, node_no';
    const unknown = await query(
      `SELECT DISTINCT ${kinds} FROM (SELECT s.*, t.agent_no FROM cold.main.spans s JOIN cold.main.traces t ON t.tenant = s.tenant AND t.trace_id = s.trace_id) o
        WHERE NOT EXISTS (SELECT 1 FROM cold.main.agent_spans k WHERE k.tenant = o.tenant AND k.agent_no = o.agent_no AND k.type IS NULL)
        EXCEPT SELECT ${kinds} FROM cold.main.agent_spans`,
    );
    found.push(...unknown.map((row) => `agent_spans: not ${JSON.stringify(row)}`));
    return found;
  });
}

/** Log rows and index entries in the cold file of a closed store. */
export async function movedLogs(path: string): Promise<{
  readonly records: number;
  readonly inBlocks: number;
  readonly counted: number;
  readonly entries: number;
}> {
  return await withFiles(path, async (query) => {
    const [row] = await query(
      `SELECT (SELECT count(*) FROM cold.main.logs) AS records,
        (SELECT coalesce(sum(records), 0)::INTEGER FROM cold.main.log_blocks) AS in_blocks,
        (SELECT coalesce(sum(records), 0)::INTEGER FROM cold.main.log_terms) AS counted,
        (SELECT coalesce(sum(len(positions)), 0)::INTEGER FROM cold.main.log_terms) AS entries`,
    );
    return {
      records: Number(row?.records),
      inBlocks: Number(row?.in_blocks),
      counted: Number(row?.counted),
      entries: Number(row?.entries),
    };
  });
}

export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * Queries the tables of a closed store with all files united in one view: `spans`, and `newest_spans` without
 * superseded versions. The main file is `main_file`.
 */
export async function readAsOne<T>(
  path: string,
  tables: readonly ('spans' | 'traces' | 'agents' | 'services' | 'usage' | 'map_edges' | 'prompt_links')[],
  look: (query: Query) => Promise<T>,
): Promise<T> {
  return await withFiles(path, async (query, catalogs) => {
    await query(`ATTACH ${literal(path)} AS main_file (READ_ONLY)`);
    const live = await notMoved(query, catalogs);
    for (const table of tables) {
      const parts = live.map((catalog) => `SELECT * FROM ${identifier(catalog)}.main.${table}`);
      await query(`CREATE TEMP VIEW ${table} AS ${parts.join(' UNION ALL ')}`);
      if (table !== 'spans' && table !== 'traces') continue;
      const key = table === 'spans' ? 'trace_id, span_id' : 'trace_id';
      await query(
        `CREATE TEMP VIEW newest_${table} AS SELECT * FROM ${table} QUALIFY row_number() OVER (PARTITION BY tenant, ${key} ORDER BY seq DESC) = 1`,
      );
    }
    return await look(query);
  });
}

/** Excludes compacted segments whose files remain. */
async function notMoved(query: Query, catalogs: readonly string[]): Promise<string[]> {
  const [moved] = await query('SELECT coalesce(max(segment), 0) AS segment FROM cold.main.moved');
  const quarantined = (await query('SELECT segment FROM cold.main.segments_aside')).map(({ segment }) =>
    Number(segment),
  );
  return catalogs.filter((catalog) => {
    const number = Number(/^hot-(\d+)$/.exec(catalog)?.[1]);
    return !(number <= Number(moved?.segment)) || quarantined.includes(number);
  });
}

/** Runs statements on the tables of a closed store, in each of its files. */
export async function changeFiles(path: string, statements: readonly string[]): Promise<void> {
  await withFiles(path, async (query, catalogs) => {
    for (const statement of statements) {
      for (const catalog of catalogs) {
        await query(`USE ${identifier(catalog)}`);
        await query(statement);
      }
    }
  });
}

/** Runs a statement on the cold file of a closed store. @returns the result rows */
export async function inColdFile(path: string, statement: string): Promise<Record<string, unknown>[]> {
  return await inFile(path, /^cold$/, statement);
}

/** Runs a statement on the first file whose name matches, such as `hot-00000012`. */
export async function inFile(
  path: string,
  name: RegExp,
  statement: string,
): Promise<Record<string, unknown>[]> {
  return await withFiles(path, async (query, catalogs) => {
    const catalog = catalogs.find((known) => name.test(known));
    if (catalog === undefined) throw new Error(`no file of the store is called ${String(name)}`);
    await query(`USE ${identifier(catalog)}`);
    return await query(statement);
  });
}

/** The statements that revert the upgrade to each version. */
const UNDONE: Readonly<Record<number, string>> = {
  4: 'ALTER TABLE traces DROP COLUMN sample_rate',
  5: 'DROP TABLE named_batches',
  6: 'ALTER TABLE map_nodes DROP COLUMN grade; ALTER TABLE map_edges DROP COLUMN grade',
  7: 'DROP TABLE call_sums',
  8: 'DROP TABLE agent_spans',
  10: 'ALTER TABLE spans DROP COLUMN counted_tokens; ALTER TABLE spans DROP COLUMN counted_cost',
  9: 'CREATE TABLE model_sums (seq BIGINT); CREATE TABLE text_blocks (seq BIGINT)',
  11: 'ALTER TABLE logs DROP COLUMN other_text',
  12: 'ALTER TABLE traces DROP COLUMN orphan_wait_ms',
  13: ['environment', 'release', 'agent_version', 'repository']
    .map((column) => `ALTER TABLE traces DROP COLUMN ${column}`)
    .join(';'),
  14: 'DROP TABLE scores',
  15: ['map_nodes', 'map_edges']
    .map(
      (table) =>
        `UPDATE ${table} SET grade = least(grade, 255); ALTER TABLE ${table} ALTER COLUMN grade TYPE UTINYINT`,
    )
    .join(';'),
  16: 'ALTER TABLE scores DROP COLUMN session_id; ALTER TABLE scores DROP COLUMN metadata',
  17: 'DROP TABLE text_filters',
};

/** Downgrades the cold file and a hot segment of a closed store to an earlier version. */
export async function downgrade(path: string, version: number): Promise<void> {
  const undone = Object.entries(UNDONE)
    .filter(([to]) => Number(to) > version)
    .map(([, statements]) => statements)
    .reverse();
  const note = `UPDATE schema_versions SET version = ${version}`;
  for (const part of [/^cold$/, /^hot/]) await inFile(path, part, [...undone, note].join('; '));
}

/** Runs a statement on one file of a closed store. @returns the result rows */
export async function inOneFile(file: string, statement: string): Promise<Record<string, unknown>[]> {
  const database = await Database.open({ path: ':memory:', memoryLimit: '256MiB', threads: 1 });
  try {
    const connection = await database.connect();
    await connection.run(`ATTACH ${literal(file)} AS one_file`);
    await connection.run('USE one_file');
    return await connection.rows(statement);
  } finally {
    database.close();
  }
}

/** Queries the files of a closed store, each attached under its own part of the name. */
async function withFiles<T>(
  path: string,
  look: (query: Query, catalogs: readonly string[]) => Promise<T>,
): Promise<T> {
  const database = await Database.open({ path: ':memory:', memoryLimit: '256MiB', threads: 1 });
  try {
    const connection = await database.connect();
    const catalogs: string[] = [];
    for (const file of filesOf(path)) {
      const catalog = basename(file, '.duckdb').slice(basename(path, '.duckdb').length + 1);
      await connection.run(`ATTACH ${literal(file)} AS ${identifier(catalog)}`);
      catalogs.push(catalog);
    }
    return await look((sql) => connection.rows(sql), catalogs);
  } finally {
    database.close();
  }
}
