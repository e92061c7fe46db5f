import { contractOver } from '../../../worker/contract-over.js';
import { TELEMETRY_METHODS, type TelemetryStore } from '../../contracts/telemetry-store.js';
import { withPromptNames } from '../../shared/run-groups.js';
import type { LogKey } from '../index/log-keys.js';
import type { PointsCursor } from '../read/metrics.js';
import type { MapList } from '../read/service-map.js';
import type { Served } from '../segments/read-context.js';
import type { ReadPart, StoreReads } from '../thread/store-reads.js';
import type { StoreHandle } from './store-handle.js';

/** A contract with methods that the store thread answers. */
type Contract = ReadPart & keyof typeof TELEMETRY_METHODS;

/** The methods of a contract that the store thread answers in the shape of the contract. */
type AnsweredWhole<Part extends Contract> = {
  [Name in keyof TelemetryStore[Part]]: Name extends keyof StoreReads[Part]
    ? StoreReads[Part][Name] extends Served<TelemetryStore[Part]>[Name]
      ? Name
      : never
    : never;
}[keyof TelemetryStore[Part]];

/** The methods of a contract that need several calls or the control store, so the thread does not answer them alone. */
type Own<Part extends Contract> = Omit<TelemetryStore[Part], AnsweredWhole<Part>>;

/** A contract over the port to the store thread: each method is a read, except the methods of `Own`. */
export function readsOver<Part extends Contract>(
  handle: StoreHandle,
  part: Part,
  own: Own<Part>,
): TelemetryStore[Part] {
  const reads = contractOver<TelemetryStore[Part]>(
    TELEMETRY_METHODS[part],
    async (method, [user, ...args], abort) => {
      const { thread, known } = handle.opened;
      const { tenant } = known.users.known(user as string) ?? (await handle.user(user as string));
      return await thread.call('read', [{ part, method, tenant, args }], { abort });
    },
  );
  return { ...reads, ...own };
}

export function seriesReads(handle: StoreHandle): TelemetryStore['series'] {
  return {
    read: async (userId, { prompt, ...request }, abort) => {
      const prompts =
        prompt === undefined ? undefined : await handle.opened.control.prompts.numbersOf(userId, prompt);
      const asked = prompts === undefined ? request : { ...request, prompts };
      const { tenant } = await handle.user(userId);
      return await handle.read(tenant, 'series', 'read', [asked], abort);
    },
  };
}

export function groupReads(handle: StoreHandle): TelemetryStore['groups'] {
  return {
    read: async (userId, request, abort) => {
      const { tenant } = await handle.user(userId);
      const found = await handle.read(tenant, 'groups', 'read', [request], abort);
      return request.group_by === 'prompt_version'
        ? await withPromptNames(found, handle.opened.control.prompts, userId)
        : found;
    },
  };
}

export function scoreReads(handle: StoreHandle): TelemetryStore['scores'] {
  return readsOver(handle, 'scores', {
    groups: async (userId, { prompt, ...request }, abort) => {
      const prompts =
        prompt === undefined ? undefined : await handle.opened.control.prompts.numbersOf(userId, prompt);
      const asked = prompts === undefined ? request : { ...request, prompts };
      const { tenant } = await handle.user(userId);
      return await handle.read(tenant, 'scores', 'groups', [asked], abort);
    },
  });
}

export function metricReads(handle: StoreHandle): TelemetryStore['metrics'] {
  return readsOver(handle, 'metrics', {
    query: async (userId, name, filter, abort) => {
      const { tenant } = await handle.user(userId);
      const found = await handle.read(tenant, 'metrics', 'query', [name, filter], abort);
      if (found === null) return null;
      const { page, ...metric } = found;
      const points = jsonPages(
        page,
        ({ next }) => next,
        (cursor: PointsCursor) => handle.read(tenant, 'metrics', 'points', [name, filter, cursor], abort),
      );
      return { ...metric, points };
    },
  });
}

export function logReads(handle: StoreHandle): TelemetryStore['logs'] {
  return readsOver(handle, 'logs', {
    search: async (userId, filter, page, abort) => {
      const { tenant } = await handle.user(userId);
      const { count, slice, next } = await handle.read(tenant, 'logs', 'search', [filter, page], abort);
      const items = jsonPages(
        slice,
        ({ rest }) => (rest.length === 0 ? null : rest),
        (keys: readonly LogKey[]) =>
          handle.read(tenant, 'logs', 'rest', [keys, page.details ?? false], abort),
      );
      return { count, items, next };
    },
  });
}

export function mapReads(handle: StoreHandle): TelemetryStore['map'] {
  return readsOver(handle, 'map', {
    read: async (userId, range, abort) => {
      const { tenant } = await handle.user(userId);
      const first = await handle.read(tenant, 'map', 'read', [range], abort);
      const pages = (list: MapList): AsyncIterable<Uint8Array> =>
        jsonPages(
          first[list],
          ({ next }) => next,
          (after: readonly string[]) => handle.read(tenant, 'map', 'rest', [range, list, after], abort),
        );
      return { nodes: pages('nodes'), edges: pages('edges') };
    },
    rebuild: async ({ dryRun }) => {
      const rebuilt = await handle.call('rebuildMap', dryRun);
      if (rebuilt === null) return null;
      const tenants = new Set(rebuilt.examples.map(({ tenant }) => tenant));
      const users = await handle.opened.control.accounts.findTenants([...tenants]);
      const examples = rebuilt.examples.map(
        ({ tenant, words }) => `User ${users.get(tenant) ?? String(tenant)}, ${words}`,
      );
      return { ...rebuilt, examples };
    },
  });
}

export function promptRuns(handle: StoreHandle): TelemetryStore['prompts'] {
  return {
    link: async (userId, link, now) => {
      const { prompt_name: name, prompt_version: version, trace_id, span_id } = link;
      const { users, prompts, order } = handle.opened.known;
      const asked = [{ name, version }];
      return await order.send(
        userId,
        async () =>
          await Promise.all([
            users.known(userId) ?? users.find(userId),
            prompts.known(userId, asked) ?? prompts.find(userId, asked),
          ]),
        async ([{ tenant }, [promptNo = null]]) => {
          if (promptNo === null) return false;
          await handle.call('linkPrompt', tenant, { promptNo, trace_id, span_id }, now);
          return true;
        },
      );
    },
    compare: async (userId, name, abort) => {
      const versions = await handle.opened.control.prompts.numbersOf(userId, name);
      if (versions.length === 0) return null;
      const { tenant } = await handle.user(userId);
      return await handle.read(tenant, 'prompts', 'compare', [versions], abort);
    },
  };
}

/** The contract `AlertStats`; one request covers many users. */
export function alertStats(handle: StoreHandle): TelemetryStore['stats'] {
  const tenantsOf = (userIds: readonly string[]): Promise<ReadonlyMap<string, number>> =>
    handle.opened.known.users.tenants(userIds);
  return {
    observe: async (request) => {
      const { targets, metrics, scores = [] } = request;
      const users = [
        ...targets.map(({ target }) => target.userId),
        ...[...metrics, ...scores].map(({ userId }) => userId),
      ];
      return await handle.look('observe', request, await tenantsOf(users));
    },
    exampleTraces: async (queries) => {
      const users = queries.map(({ target }) => target.userId);
      return await handle.look('exampleTraces', queries, await tenantsOf(users));
    },
  };
}

/** Items as JSON with commas between them. */
interface Page {
  readonly json: Uint8Array;
}

/**
 * A list whose pages are read when they are needed.
 *
 * @param restOf arguments for reading the next pages; null after the last page
 * @throws errors of `read`
 */
async function* jsonPages<P extends Page, Rest>(
  first: P,
  restOf: (page: P) => Rest | null,
  read: (rest: Rest) => Promise<P>,
): AsyncGenerator<Uint8Array> {
  let page = first;
  for (;;) {
    if (page.json.length > 0) yield page.json;
    const rest = restOf(page);
    if (rest === null) return;
    page = await read(rest);
  }
}
