/**
 * A protocol mapping's hint for a span's node in the service map; the map needs no other attributes of the span. It is one text,
 * a mark with an optional name, because it is stored with every span:
 *
 * - empty: no node
 * - `@`: the agent of the run; `@planner`: an agent with that name
 * - `=orders`: the declared name of a service or a database
 * - `/https://orders.example`: a service, by the host of a URL, otherwise by the name of the span
 * - `#kafka/orders`: the name of a queue; `#`: the name of the span
 */
export type MapHint = string;

export const NO_MAP_NODE: MapHint = '';
export const AGENT_MARK = '@';
export const DECLARED_MARK = '=';
export const URL_MARK = '/';
export const NUMBERED_MARK = '#';
