import type { Row, Value } from '../connection.js';

/** `any_text` may hold every character there is, at every place: {@link readAnyText} gives it back. */
type MetaKind = 'uuid' | 'text' | 'any_text' | 'json' | 'integer' | 'double' | 'boolean' | 'time';

interface MetaColumn {
  readonly name: string;
  readonly kind: MetaKind;
  /** What follows the type in the DDL. */
  readonly rule?: string;
}

const SQL_TYPES: Readonly<Record<MetaKind, string>> = {
  uuid: 'UUID',
  text: 'VARCHAR',
  any_text: 'VARCHAR',
  json: 'VARCHAR',
  integer: 'BIGINT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
};

export function sqlType(kind: MetaKind): string {
  return SQL_TYPES[kind];
}

const JSON_TYPES: Readonly<Record<MetaKind, string>> = { ...SQL_TYPES, time: 'BIGINT' };

/**
 * Of columns of UUIDs in long tables. Left to itself, DuckDB 1.5.6 packs the bits of those that are much alike, and then
 * takes half a microsecond to read each: 50 ms for 100 000 rows instead of 1 ms.
 */
export const UNPACKED = 'USING COMPRESSION uncompressed';

/** Up to so many rows, values in the statement take a third less processor time than JSON does. */
const FEW_ROWS = 16;

/** A table of the main file. Its column list gives DDL, inserts, updates and selects. */
export class MetaTable {
  readonly name: string;
  readonly columns: readonly MetaColumn[];
  readonly #rules: readonly string[];

  /** @param rules constraints over several columns */
  constructor(name: string, columns: readonly MetaColumn[], rules: readonly string[] = []) {
    this.name = name;
    this.columns = columns;
    this.#rules = rules;
  }

  create(catalog: string): string {
    const columns = this.columns.map(({ name, kind, rule = '' }) =>
      `${name} ${SQL_TYPES[kind]} ${rule}`.trim(),
    );
    return `CREATE TABLE ${catalog}.main.${this.name} (${[...columns, ...this.#rules].join(', ')})`;
  }

  /** @param rest what follows the table's name @param names of columns; all of them where absent */
  select(rest = '', names?: readonly string[]): string {
    const columns = this.columns.filter(({ name }) => names?.includes(name) ?? true);
    return `SELECT ${columns.map((column) => `${read(column, this.name)} AS ${column.name}`).join(', ')} FROM ${this.name} ${rest}`;
  }

  /** The statement that inserts a row, and its parameters. */
  insert(row: Row): [sql: string, values: Value[]] {
    return this.#insertValues(1, this.#valuesOf([row]));
  }

  /** The statement that inserts many rows, in their order. */
  insertAll(rows: readonly Row[]): [sql: string, values: Value[]] {
    const values = this.#valuesOf(rows);
    const areFew = rows.length > 0 && rows.length <= FEW_ROWS;
    if (areFew && values.every(isPlain)) return this.#insertValues(rows.length, values);
    const names = this.columns.map((column) => column.name).join(', ');
    return [
      `INSERT INTO ${this.name} (${names}) SELECT ${names} FROM ${asRelation(this.columns)}`,
      [asJson(rows)],
    ];
  }

  /** The statement that sets the columns that the rows have, where the key is the same. @param key a column, too */
  updateAll(key: string, rows: readonly Row[]): [sql: string, values: Value[]] {
    const columns = this.columns.filter(({ name }) => rows[0] !== undefined && name in rows[0]);
    const assignments = columns.flatMap(({ name }) => (name === key ? [] : [`${name} = changed.${name}`]));
    return [
      `UPDATE ${this.name} SET ${assignments.join(', ')} FROM ${asRelation(columns)} AS changed WHERE ${this.name}.${key} = changed.${key}`,
      [asJson(rows)],
    ];
  }

  #insertValues(rows: number, values: Value[]): [sql: string, values: Value[]] {
    const names = this.columns.map((column) => column.name).join(', ');
    const places = `(${this.columns.map((column) => write(column)).join(', ')})`;
    const all = Array.from({ length: rows }, () => places).join(', ');
    return [`INSERT INTO ${this.name} (${names}) VALUES ${all}`, values];
  }

  #valuesOf(rows: readonly Row[]): Value[] {
    return rows.flatMap((row) => this.columns.map(({ name }) => row[name] ?? null));
  }
}

/** A statement holds it as it is; otherwise JSON does. */
function isPlain(value: Value): boolean {
  return typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'));
}

function read({ name, kind }: MetaColumn, table: string): string {
  if (kind === 'uuid') return `${table}.${name}::VARCHAR`;
  if (kind === 'any_text') return `'${MARK}' || ${table}.${name}`;
  return kind === 'time' ? `epoch_us(${table}.${name})` : `${table}.${name}`;
}

/** The binding drops U+FEFF at the start of what it reads: such texts are read behind another character. */
const MARK = '.';

/** The text in a selected column of the kind `any_text`. */
export function readAnyText(value: Value | undefined): string | null {
  return typeof value === 'string' ? value.slice(MARK.length) : null;
}

/** Many rows travel as one JSON text: a statement with a place for each value takes longer to prepare than to run. */
function asRelation(columns: readonly MetaColumn[]): string {
  const shape = JSON.stringify([
    Object.fromEntries(columns.map(({ name, kind }) => [name, JSON_TYPES[kind]])),
  ]);
  const values = columns.map(({ name, kind }) =>
    kind === 'time' ? `make_timestamp(item.${name}) AS ${name}` : `item.${name}`,
  );
  return `(SELECT ${values.join(', ')} FROM (SELECT unnest(from_json(?, '${shape}')) AS item))`;
}

/** Half a surrogate pair would make DuckDB refuse the whole text. */
function asJson(rows: readonly Row[]): string {
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}

function write({ kind }: MetaColumn): string {
  if (kind === 'uuid') return '?::UUID';
  return kind === 'time' ? 'make_timestamp(?::BIGINT)' : '?';
}

export const USERS = new MetaTable('users', [
  { name: 'id', kind: 'uuid', rule: 'PRIMARY KEY' },
  /** What telemetry rows carry instead of the id. */
  { name: 'tenant', kind: 'integer', rule: 'NOT NULL UNIQUE' },
  { name: 'email', kind: 'text', rule: 'NOT NULL UNIQUE' },
  { name: 'name', kind: 'text', rule: 'NOT NULL' },
  { name: 'monthly_event_limit', kind: 'integer' },
  { name: 'disabled', kind: 'boolean', rule: 'NOT NULL' },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
]);

export const KEYS = new MetaTable('api_keys', [
  { name: 'id', kind: 'uuid', rule: 'PRIMARY KEY' },
  { name: 'user_id', kind: 'uuid', rule: 'NOT NULL' },
  { name: 'name', kind: 'text', rule: 'NOT NULL' },
  { name: 'prefix', kind: 'text', rule: 'NOT NULL' },
  { name: 'digest', kind: 'text', rule: 'NOT NULL' },
  /** Separated by blanks. */
  { name: 'scopes', kind: 'text', rule: 'NOT NULL' },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'expires_at', kind: 'time' },
  { name: 'revoked_at', kind: 'time' },
  { name: 'last_used_at', kind: 'time' },
]);

export const ORGANIZATIONS = new MetaTable('organizations', [
  { name: 'id', kind: 'uuid', rule: 'PRIMARY KEY' },
  { name: 'slug', kind: 'text', rule: 'NOT NULL UNIQUE' },
  { name: 'name', kind: 'text', rule: 'NOT NULL' },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
]);

export const MEMBERS = new MetaTable(
  'members',
  [
    { name: 'organization_id', kind: 'uuid', rule: 'NOT NULL' },
    { name: 'user_id', kind: 'uuid', rule: 'NOT NULL' },
    { name: 'role', kind: 'text', rule: 'NOT NULL' },
  ],
  ['PRIMARY KEY (organization_id, user_id)'],
);

export const PROMPTS = new MetaTable(
  'prompts',
  [
    /** What telemetry rows carry instead of the id. */
    { name: 'number', kind: 'integer', rule: 'NOT NULL UNIQUE' },
    { name: 'id', kind: 'uuid', rule: 'PRIMARY KEY' },
    { name: 'user_id', kind: 'uuid', rule: 'NOT NULL' },
    { name: 'name', kind: 'any_text', rule: 'NOT NULL' },
    { name: 'version', kind: 'integer', rule: 'NOT NULL' },
    { name: 'template_text', kind: 'any_text', rule: 'NOT NULL' },
    { name: 'description', kind: 'any_text' },
    { name: 'is_active', kind: 'boolean', rule: 'NOT NULL' },
    { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
    /** Of the texts, about: reads go by it to bound what they hold. */
    { name: 'bytes', kind: 'integer', rule: 'NOT NULL' },
  ],
  ['UNIQUE (user_id, name, version)'],
);

export const ENDPOINTS = new MetaTable('webhook_endpoints', [
  { name: 'id', kind: 'uuid', rule: 'PRIMARY KEY' },
  { name: 'organization_id', kind: 'uuid', rule: 'NOT NULL' },
  { name: 'url', kind: 'text', rule: 'NOT NULL' },
  { name: 'name', kind: 'any_text', rule: 'NOT NULL' },
  /** Separated by blanks. */
  { name: 'event_types', kind: 'text', rule: 'NOT NULL' },
  { name: 'is_active', kind: 'boolean', rule: 'NOT NULL' },
  { name: 'consecutive_failures', kind: 'integer', rule: 'NOT NULL' },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
  /** Encrypted before it comes here. */
  { name: 'sealed_secret', kind: 'text', rule: 'NOT NULL' },
]);
