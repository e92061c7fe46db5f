import { ALERT_BEAT, ALERT_EVENTS, ALERT_NOTICES, ALERTS } from './alert-definitions.js';
import { CLOCK_NOTE } from './clock-notes.js';
import { ATTEMPTS, DELIVERIES, TAKEN_EVENTS, WAITING } from './delivery-definitions.js';
import { ENTRIES, READERS } from './event-definitions.js';
import { ENDPOINTS, KEYS, MEMBERS, ORGANIZATIONS, PROMPTS, USERS, type MetaTable } from './tables.js';
import { UNUSABLE_META } from './unusable-definition.js';

/** All tables of the main file. */
export const META_TABLES: readonly MetaTable[] = [
  USERS,
  KEYS,
  ORGANIZATIONS,
  MEMBERS,
  PROMPTS,
  ENDPOINTS,
  ENTRIES,
  READERS,
  TAKEN_EVENTS,
  DELIVERIES,
  WAITING,
  ATTEMPTS,
  ALERTS,
  ALERT_EVENTS,
  ALERT_NOTICES,
  ALERT_BEAT,
  UNUSABLE_META,
  CLOCK_NOTE,
];
