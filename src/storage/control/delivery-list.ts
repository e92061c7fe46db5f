import { sql, type Kysely } from 'kysely';
import type {
  ChangedDelivery,
  DeliveryFilter,
  DeliveryCursor,
  ListedDelivery,
} from '../contracts/deliveries.js';
import type { EventSubject } from '../contracts/events.js';
import { summaries } from './delivery-history.js';
import type { Tables } from './tables.js';

/** Number of deliveries read at a time, and number of reads per result: deliveries that do not match are skipped. */
const LOOKED_AT_ONCE = 1000;
const MOST_LOOKS = 10;

/** Deliveries of an organization that match, the newest first. */
export async function listDeliveriesAfter(
  db: Kysely<Tables>,
  slug: string,
  filter: DeliveryFilter,
  { after, limit }: { readonly after: DeliveryCursor | null; readonly limit: number },
): Promise<{ readonly items: readonly ListedDelivery[]; readonly next: DeliveryCursor | null }> {
  const organization = await db
    .selectFrom('organizations')
    .select('id')
    .where('slug', '=', slug)
    .executeTakeFirst();
  if (organization === undefined) return { items: [], next: null };
  // Without filters that must be evaluated per row, every row read matches.
  const isPlain = filter.eventType === undefined && (filter.status ?? 'failed') === 'failed';
  const size = isPlain ? limit + 1 : LOOKED_AT_ONCE;
  const found: ListedDelivery[] = [];
  let place = after;
  for (let look = 0; look < MOST_LOOKS; look++) {
    const rows = await rowsBehind(db, organization.id, filter, place, size);
    const changed = await summaries(
      db,
      rows.map(({ id }) => id),
    );
    for (const { id, endpoint_id, subject_kind, subject_id } of rows) {
      const summary = changed.get(id);
      if (summary === undefined || !matches(summary, filter)) continue;
      const last = found.at(-1);
      if (found.length === limit && last !== undefined)
        return { items: found, next: { created_at: last.created_at, id: last.id } };
      found.push({ ...summary, endpoint_id, subject: subjectIn(subject_kind, subject_id) });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return { items: found, next: null };
    place = { created_at: last.created_at, id: last.id };
  }
  return { items: found, next: place };
}

/** Some deliveries after a position, as far as an index can select them. */
async function rowsBehind(
  db: Kysely<Tables>,
  organization: string,
  { status, endpointId, traceId }: DeliveryFilter,
  after: DeliveryCursor | null,
  size: number,
) {
  let query = db
    .selectFrom('deliveries as d')
    .innerJoin('delivery_events as e', 'e.id', 'd.event_id')
    .select(['d.id', 'd.created_at', 'd.endpoint_id', 'e.subject_kind', 'e.subject_id'])
    .where('d.organization_id', '=', organization);
  if (after !== null)
    query = query.where(
      sql<boolean>`(d.created_at, d.id) < (${sql.val(after.created_at)}, ${sql.val(after.id)})`,
    );
  // Written literally, so that SQLite uses the partial index of deliveries without success.
  if (status === 'failed') query = query.where(sql<boolean>`d.succeeded = 0`);
  if (endpointId !== undefined) query = query.where('d.endpoint_id', '=', endpointId.toLowerCase());
  if (traceId !== undefined) {
    const id = traceId.toLowerCase();
    query = query.where('d.event_id', 'in', (row) =>
      row
        .selectFrom('delivery_events')
        .select('id')
        .where('subject_id', '=', id)
        .where('subject_kind', '=', 'trace')
        .union(
          row
            .selectFrom('alert_firings')
            .innerJoin('alert_evidence', 'alert_evidence.firing', 'alert_firings.number')
            .select('alert_firings.id')
            .where('alert_evidence.trace_id', '=', id),
        ),
    );
  }
  return await query.orderBy('d.created_at', 'desc').orderBy('d.id', 'desc').limit(size).execute();
}

/** Deliveries by id, in that order, with their organizations; deleted ones are left out. */
export async function readChanged(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly ChangedDelivery[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('deliveries as d')
    .innerJoin('delivery_events as e', 'e.id', 'd.event_id')
    .innerJoin('organizations as o', 'o.id', 'd.organization_id')
    .select(['d.id', 'd.endpoint_id', 'e.subject_kind', 'e.subject_id', 'o.slug'])
    .where('d.id', 'in', ids)
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  const changed = await summaries(db, ids);
  return ids.flatMap((id) => {
    const [row, summary] = [found.get(id), changed.get(id)];
    if (row === undefined || summary === undefined) return [];
    const { endpoint_id, subject_kind, subject_id, slug } = row;
    return { ...summary, endpoint_id, subject: subjectIn(subject_kind, subject_id), org_slug: slug };
  });
}

function matches(
  { status, event_type }: Pick<ListedDelivery, 'status' | 'event_type'>,
  wanted: DeliveryFilter,
): boolean {
  return (
    (wanted.status === undefined || wanted.status === status) &&
    (wanted.eventType === undefined || wanted.eventType === event_type)
  );
}

/** The columns were written by this store, so the kind is valid. */
function subjectIn(kind: string | null, id: string | null): EventSubject | null {
  return kind === null || id === null ? null : { kind: kind as EventSubject['kind'], id };
}
