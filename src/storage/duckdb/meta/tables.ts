import type { Row, Value } from '../database.js';

type MetaKind = 'uuid' | 'text' | 'integer' | 'time';

interface MetaColumn {
  readonly name: string;
  readonly kind: MetaKind;
  /** What follows the type in the DDL. */
  readonly rule?: string;
}

const SQL_TYPES: Readonly<Record<MetaKind, string>> = {
  uuid: 'UUID',
  text: 'VARCHAR',
  integer: 'BIGINT',
  time: 'TIMESTAMP',
};

/** A small table of the main file. Its column list gives DDL, inserts and selects. */
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

  /** @param rest what follows the table's name */
  select(rest = ''): string {
    return `SELECT ${this.columns.map((column) => `${read(column, this.name)} AS ${column.name}`).join(', ')} FROM ${this.name} ${rest}`;
  }

  /** The statement that inserts a row, and its parameters. */
  insert(row: Row): [sql: string, values: Value[]] {
    const names = this.columns.map((column) => column.name).join(', ');
    const places = this.columns.map((column) => write(column)).join(', ');
    return [
      `INSERT INTO ${this.name} (${names}) VALUES (${places})`,
      this.columns.map((column) => row[column.name] ?? null),
    ];
  }
}

function read({ name, kind }: MetaColumn, table: string): string {
  if (kind === 'uuid') return `${table}.${name}::VARCHAR`;
  return kind === 'time' ? `epoch_us(${table}.${name})` : `${table}.${name}`;
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

/** All tables of the main file. */
export const META_TABLES: readonly MetaTable[] = [USERS, KEYS, ORGANIZATIONS, MEMBERS];
