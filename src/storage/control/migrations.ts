import { PAGE_MIGRATIONS, type Statements } from './page-migrations.js';
import { WRITE_MIGRATIONS } from './write-migrations.js';

/**
 * The migrations from an empty database to the current tables, in the order of their names. A released migration is never changed: later
 * changes are further migrations.
 */
export const MIGRATIONS: Readonly<Record<string, Statements>> = {
  ...PAGE_MIGRATIONS,
  ...WRITE_MIGRATIONS,

  '0001-leases': (text) => [
    `create table leases (
      name ${text} not null primary key,
      owner ${text} not null,
      token bigint not null,
      expires_at bigint not null
    )`,
  ],

  '0002-accounts': (text) => [
    `create table counters (
      name ${text} not null primary key,
      last bigint not null
    )`,
    "insert into counters (name, last) values ('tenant', 0), ('key', 0)",
    `create table users (
      id ${text} not null primary key,
      tenant bigint not null unique,
      email ${text} not null,
      email_key ${text} not null unique,
      name ${text} not null,
      monthly_event_limit bigint,
      disabled integer not null,
      created_at bigint not null
    )`,
    `create table api_keys (
      id ${text} not null primary key,
      user_id ${text} not null references users (id),
      name ${text} not null,
      prefix ${text} not null,
      digest ${text} not null unique,
      scopes ${text} not null,
      created_at bigint not null,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint,
      changed bigint not null
    )`,
    'create index api_keys_of_user on api_keys (user_id)',
    'create index api_keys_by_change on api_keys (changed, id)',
    `create table organizations (
      id ${text} not null primary key,
      slug ${text} not null,
      slug_key ${text} not null unique,
      name ${text} not null,
      created_at bigint not null
    )`,
    `create table members (
      organization_id ${text} not null references organizations (id),
      user_id ${text} not null references users (id),
      role ${text} not null,
      primary key (organization_id, user_id)
    )`,
    'create index members_of_user on members (user_id)',
  ],

  '0003-prompts': (text) => [
    "insert into counters (name, last) values ('prompt', 0)",
    `create table prompts (
      number bigint not null primary key,
      id ${text} not null unique,
      user_id ${text} not null references users (id),
      name ${text} not null,
      name_key ${text} not null,
      version bigint not null,
      template_text ${text} not null,
      description ${text},
      is_active integer not null,
      created_at bigint not null,
      bytes bigint not null,
      unique (user_id, name_key, version)
    )`,
  ],

  '0004-endpoints': (text) => [
    `create table webhook_endpoints (
      id ${text} not null primary key,
      organization_id ${text} not null references organizations (id),
      url ${text} not null,
      name ${text} not null,
      event_types ${text} not null,
      is_active integer not null,
      consecutive_failures bigint not null,
      created_at bigint not null,
      sealed_secret ${text} not null
    )`,
    'create index webhook_endpoints_of_organization on webhook_endpoints (organization_id)',
  ],

  '0005-events': (text) => [
    "insert into counters (name, last) values ('event', 0)",
    `create table events (
      number bigint not null primary key,
      tenant ${text} not null,
      fact ${text} not null,
      id ${text} not null,
      type ${text} not null,
      timestamp bigint not null,
      organization_id ${text},
      endpoint_id ${text},
      body ${text} not null,
      unique (tenant, fact)
    )`,
    'create index events_by_time on events (timestamp)',
    `create table event_readers (
      name ${text} not null primary key,
      position bigint not null
    )`,
    `create table event_marks (
      source ${text} not null primary key,
      mark ${text} not null
    )`,
    `create table event_wants (
      owner ${text} not null,
      type ${text} not null,
      until bigint not null,
      primary key (owner, type)
    )`,
  ],

  '0006-terms': (text) => [
    `create table terms (
      owner ${text} not null primary key,
      terms ${text} not null,
      until bigint not null
    )`,
  ],

  '0007-deliveries': (text) => [
    `create table delivery_events (
      id ${text} not null primary key,
      type ${text} not null,
      taken_at bigint not null,
      body ${text} not null
    )`,
    'create index delivery_events_by_time on delivery_events (taken_at)',
    `create table deliveries (
      id ${text} not null primary key,
      event_id ${text} not null references delivery_events (id),
      endpoint_id ${text} not null references webhook_endpoints (id),
      created_at bigint not null,
      unique (event_id, endpoint_id)
    )`,
    'create index deliveries_of_endpoint on deliveries (endpoint_id, created_at, id)',
    'create index deliveries_by_time on deliveries (created_at)',
    `create table waiting_deliveries (
      delivery_id ${text} not null primary key,
      endpoint_id ${text} not null,
      due_at bigint,
      step bigint not null,
      manual bigint not null,
      attempts bigint not null,
      attempted_at bigint,
      is_manual integer not null,
      expires_at bigint,
      ready_at bigint
    )`,
    'create index waiting_deliveries_ready on waiting_deliveries (endpoint_id, ready_at, delivery_id) where ready_at is not null',
    'create index waiting_deliveries_claimed on waiting_deliveries (endpoint_id, expires_at) where expires_at is not null',
    `create table delivery_attempts (
      delivery_id ${text} not null,
      attempt_number bigint not null,
      attempted_at bigint not null,
      succeeded integer not null,
      http_status_code bigint,
      response_body ${text} not null,
      duration_ms bigint,
      error_message ${text},
      primary key (delivery_id, attempt_number)
    )`,
  ],

  '0008-alerts': (text) => [
    "insert into counters (name, last) values ('rule', 0), ('rule_forgotten', 0), ('notice', 0)",
    `create table alert_rules (
      id ${text} not null primary key,
      user_id ${text} not null references users (id),
      agent_id ${text},
      agent_name ${text},
      type ${text} not null,
      threshold double precision not null,
      cooldown_minutes double precision not null,
      is_active integer not null,
      channel ${text} not null,
      webhook_url ${text},
      composite_config ${text},
      target_service ${text},
      last_fired_at bigint,
      created_at bigint not null,
      incident_id ${text},
      incident_firings bigint,
      evidence ${text},
      changed bigint not null
    )`,
    'create index alert_rules_of_user on alert_rules (user_id)',
    'create index alert_rules_by_change on alert_rules (changed)',
    `create table alert_removals (
      number bigint not null primary key,
      alert_id ${text} not null
    )`,
    `create table alert_firings (
      number bigint not null primary key,
      id ${text} not null,
      alert_id ${text} not null references alert_rules (id) on delete cascade,
      fired_at bigint not null,
      value double precision,
      threshold double precision not null,
      incident_id ${text} not null,
      resolved_at bigint,
      body ${text} not null
    )`,
    'create index alert_firings_of_rule on alert_firings (alert_id, number)',
    'create index alert_firings_by_time on alert_firings (fired_at)',
    `create table alert_notices (
      number bigint not null primary key,
      firing bigint not null references alert_firings (number) on delete cascade,
      user_id ${text} not null,
      channel ${text} not null,
      webhook_url ${text},
      status ${text} not null,
      detail ${text},
      due_at bigint,
      attempts bigint not null,
      history ${text} not null,
      token bigint not null,
      claimed_until bigint not null
    )`,
    'create index alert_notices_of_firing on alert_notices (firing)',
    'create index alert_notices_due on alert_notices (due_at)',
    'create index alert_notices_claimed on alert_notices (claimed_until)',
    `create table alert_beats (source ${text} not null primary key, beat_at bigint not null)`,
  ],

  '0009-identity': (text) => [
    `create table identity (
      row integer not null primary key,
      id ${text} not null
    )`,
  ],

  '0011-evidence': (text) => [
    `create table alert_evidence (
      firing bigint not null references alert_firings (number) on delete cascade,
      place bigint not null,
      trace_id ${text} not null,
      primary key (firing, place)
    )`,
    'create index alert_evidence_of_trace on alert_evidence (trace_id, firing)',
    `alter table delivery_events add column subject_kind ${text}`,
    `alter table delivery_events add column subject_id ${text}`,
    'create index delivery_events_of_subject on delivery_events (subject_id) where subject_id is not null',
    // Filled in below: SQLite cannot add a NOT NULL column without a default.
    `alter table deliveries add column organization_id ${text}`,
    'alter table deliveries add column succeeded integer not null default 0',
    `update deliveries set organization_id =
      (select organization_id from webhook_endpoints where webhook_endpoints.id = deliveries.endpoint_id)`,
    `update deliveries set succeeded = 1
      where id in (select delivery_id from delivery_attempts where delivery_attempts.succeeded = 1)`,
    'create index deliveries_of_organization on deliveries (organization_id, created_at, id)',
    'create index deliveries_to_repeat on deliveries (organization_id, created_at, id) where succeeded = 0',
  ],

  '0016-bounds': (text) => [
    `create table prompt_removals (
      user_id ${text} not null references users (id),
      name_key ${text} not null,
      version bigint not null,
      number bigint not null,
      primary key (user_id, name_key)
    )`,
    'create index prompt_removals_of_user on prompt_removals (user_id, number)',
    // Allows summing the bytes of a user's texts without reading the rows.
    'create index prompt_bytes_of_user on prompts (user_id, bytes)',
  ],

  '0018-stored-bytes': () => ['alter table users add column stored_bytes_limit bigint'],

  '0019-prompt-labels': (text) => [
    `alter table prompts add column type ${text} not null default 'text'`,
    `create table prompt_labels (
      user_id ${text} not null references users (id),
      name ${text} not null,
      name_key ${text} not null,
      label ${text} not null,
      targets ${text} not null,
      number bigint not null,
      moved_at bigint not null,
      key_id ${text},
      primary key (user_id, name_key, label)
    )`,
    `create table prompt_label_moves (
      number bigint not null primary key,
      user_id ${text} not null references users (id),
      name ${text} not null,
      name_key ${text} not null,
      label ${text} not null,
      from_targets ${text},
      to_targets ${text},
      moved_at bigint not null,
      key_id ${text}
    )`,
    'create index prompt_label_moves_of_user on prompt_label_moves (user_id, number)',
    'create index prompt_label_moves_of_prompt on prompt_label_moves (user_id, name_key, number)',
  ],
  '0020-alert-scores': (text) => [`alter table alert_rules add column score_config ${text}`],
  '0021-alert-windows': (text) => [
    `alter table alert_rules add column name ${text}`,
    'alter table alert_rules add column window_minutes integer',
    'alter table alert_rules add column min_samples integer',
  ],
};
