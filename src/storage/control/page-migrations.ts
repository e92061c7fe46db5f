/** Statements for both databases. @param text the type of a text column */
export type Statements = (text: string) => readonly string[];

/**
 * Migrations of the tables for the pages: browser logins, saved views, the audit log and alert secrets. They are part of the order of
 * `migrations.ts`.
 */
export const PAGE_MIGRATIONS: Readonly<Record<string, Statements>> = {
  '0010-logins': (text) => [
    "insert into counters (name, last) values ('login', 0)",
    `create table logins (
      id ${text} not null primary key,
      digest ${text} not null unique,
      user_id ${text} not null references users (id),
      key_id ${text} not null references api_keys (id),
      created_at bigint not null,
      expires_at bigint not null,
      has_ended integer not null,
      changed bigint not null
    )`,
    'create index logins_of_user on logins (user_id)',
    'create index logins_by_change on logins (changed, id)',
    'create index logins_by_end on logins (expires_at)',
    `create table login_links (
      digest ${text} not null primary key,
      user_id ${text} not null references users (id),
      key_id ${text} not null references api_keys (id),
      expires_at bigint not null
    )`,
    'create index login_links_of_user on login_links (user_id)',
  ],

  '0012-views': (text) => [
    "insert into counters (name, last) values ('view', 0)",
    `create table views (
      id ${text} not null primary key,
      user_id ${text} not null references users (id),
      organization_id ${text} references organizations (id),
      name ${text} not null,
      path ${text} not null
    )`,
    'create index views_of_user on views (user_id)',
    'create index views_of_organization on views (organization_id)',
  ],

  '0015-parents': (text) => [
    `alter table api_keys add column parent_id ${text}`,
    'create index api_keys_of_parent on api_keys (parent_id)',
    'alter table logins add column last_seen_at bigint not null default 0',
    // Before this migration a login expired 12 hours after its last use.
    'update logins set last_seen_at = expires_at - 43200000000',
    `alter table logins add column address ${text}`,
    `alter table logins add column user_agent ${text}`,
  ],

  '0017-audit-and-alert-secrets': (text) => [
    "insert into counters (name, last) values ('audit', 0)",
    `create table audit_entries (
      number bigint not null primary key,
      at bigint not null,
      action ${text} not null,
      user_id ${text},
      key_id ${text},
      address ${text} not null,
      fields ${text} not null
    )`,
    // Finds the notices of the last hour of an alert.
    'create index alert_firings_of_rule_by_time on alert_firings (alert_id, fired_at)',
    `create table alert_secrets (
      user_id ${text} not null primary key references users (id),
      sealed_secret ${text} not null,
      created_at bigint not null
    )`,
  ],
};
