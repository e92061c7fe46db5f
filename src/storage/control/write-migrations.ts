import type { Statements } from './page-migrations.js';

/**
 * Migrations of the tables for shared telemetry stores: the write-intent log, and agent names. They are part of the order of
 * `migrations.ts`.
 */
export const WRITE_MIGRATIONS: Readonly<Record<string, Statements>> = {
  '0013-writes': (text) => [
    "insert into counters (name, last) values ('write', 0), ('ticket', 0), ('agent', 0)",
    `create table writes (
      number bigint not null primary key,
      store ${text} not null,
      owner ${text} not null,
      token bigint not null,
      expires_at bigint not null,
      first_ticket bigint,
      ended_at bigint,
      traces ${text} not null,
      charges ${text} not null
    )`,
    'create index writes_under_way on writes (store, number) where ended_at is null',
    'create index writes_by_end on writes (store, ended_at) where ended_at is not null',
    `create table usage_months (
      store ${text} not null,
      tenant bigint not null,
      month bigint not null,
      settled bigint not null,
      charged bigint not null,
      primary key (store, tenant, month)
    )`,
    `create table usage_days (
      store ${text} not null,
      tenant bigint not null,
      day bigint not null,
      settled bigint not null,
      primary key (store, tenant, day)
    )`,
    `create table numbered_agents (
      number bigint not null primary key,
      store ${text} not null,
      tenant bigint not null,
      id ${text} not null,
      name ${text} not null,
      name_key ${text} not null,
      created_at bigint,
      unique (store, tenant, name_key)
    )`,
  ],
  '0014-named-batches': (text) => [
    `create table named_batches (
      store ${text} not null,
      tenant bigint not null,
      name ${text} not null,
      noted_at bigint not null,
      write_number bigint,
      written_at bigint,
      refused ${text} not null,
      primary key (store, tenant, name)
    )`,
    'create index named_batches_by_age on named_batches (store, noted_at)',
  ],
};
