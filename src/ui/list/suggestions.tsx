import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.js';
import { formatCounted } from '../format/number.js';
import type { useListbox } from '../parts/use-listbox.js';
import { useSettled } from '../state/use-debounced.js';
import styles from './list.module.css';

/** A value that a filter may have. */
export interface Suggestion {
  readonly value: string;
  readonly label: string;
  readonly note?: string;
}

const LIMIT = 20;
/** Lists that the API cannot search by name are searched here. */
const MAX_NAMES = 100;
/** As far back as the API counts calls of tools. */
const TOOL_DAYS = 90;
const DAY = 86_400_000;

const named = (value: string): Suggestion => ({ value, label: value });

function containing(text: string, names: readonly string[]): readonly Suggestion[] {
  const part = text.toLowerCase();
  return names
    .filter((name) => name !== '' && name.toLowerCase().includes(part))
    .slice(0, LIMIT)
    .map(named);
}

/** Suggestions by source; other sources are fields of `…/traces/values`. */
const SOURCES: Readonly<
  Record<string, (text: string, signal: AbortSignal) => Promise<readonly Suggestion[]>>
> = {
  agent: async (text, signal) => {
    const query = { page: 1, page_size: LIMIT, ...(text === '' ? {} : { query: text }) };
    const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
    const items = Array.isArray(body) ? body : body.items;
    return items.map(({ id, name, total_runs }) => ({
      value: id,
      label: name === '' ? '(no name)' : name,
      note: formatCounted(total_runs, 'run'),
    }));
  },
  model: async (text, signal) => {
    const query = { page: 1, page_size: MAX_NAMES };
    const { items } = await bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }));
    return containing(
      text,
      items.flatMap(({ model }) => model ?? []),
    );
  },
  tool: async (text, signal) => {
    const start_time = new Date(Date.now() - TOOL_DAYS * DAY).toISOString();
    const query = { page: 1, page_size: MAX_NAMES, start_time };
    const { items } = await bodyOf(api.GET('/api/v1/dashboard/tools', { params: { query }, signal }));
    return containing(
      text,
      items.map(({ tool }) => tool),
    );
  },
  prompt: async (text, signal) => {
    const query = { page_size: LIMIT, ...(text === '' ? {} : { query: text }) };
    const { items } = await bodyOf(api.GET('/api/v1/dashboard/prompts/names', { params: { query }, signal }));
    return items.map(named);
  },
};

async function valuesOf(field: string, text: string, signal: AbortSignal): Promise<readonly Suggestion[]> {
  const query = { field, kind: 'all' as const, limit: LIMIT, ...(text === '' ? {} : { query: text }) };
  const { items } = await bodyOf(api.GET('/api/v1/dashboard/traces/values', { params: { query }, signal }));
  return items.map(({ value, runs }) => ({ value, label: value, note: formatCounted(runs, 'run') }));
}

/**
 * Values that contain the typed text, the most frequent first. Until those for a changed text arrive, the earlier ones that contain
 * it, so that Enter picks no other.
 *
 * @param source undefined for none
 */
export function useSuggestions(
  source: string | undefined,
  typed: string,
): { readonly found: readonly Suggestion[]; readonly isCurrent: boolean } {
  const wanted = typed.trim();
  const text = useSettled(wanted);
  const { data, isPlaceholderData } = useQuery({
    queryKey: ['suggestions', source, text],
    queryFn: ({ signal }) =>
      (SOURCES[source ?? ''] ?? ((part: string) => valuesOf(source ?? '', part, signal)))(text, signal),
    enabled: source !== undefined,
    placeholderData: (earlier, query) => (query?.queryKey[1] === source ? earlier : undefined),
    retry: false,
  });
  if (source === undefined || data === undefined) return { found: [], isCurrent: false };
  if (!isPlaceholderData && text === wanted) return { found: data, isCurrent: true };
  const part = wanted.toLowerCase();
  return { found: data.filter(({ label }) => label.toLowerCase().includes(part)), isCurrent: false };
}

/** The name of an agent, for chips of filters that hold its id. */
export function useAgentName(id: string): string {
  const { data } = useQuery({
    queryKey: ['agent-name', id],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/agents/{agent_id}', { params: { path: { agent_id: id } }, signal })),
    enabled: id !== '',
    staleTime: Infinity,
    retry: false,
  });
  return data?.name ?? id;
}

/** Suggestions below a text field. The field keeps the focus when one is clicked. */
export function Suggestions({
  label,
  items,
  box,
}: {
  readonly label: string;
  readonly items: readonly Suggestion[];
  readonly box: ReturnType<typeof useListbox>;
}) {
  if (items.length === 0) return null;
  return (
    <ul
      {...box.list}
      className={styles['options']}
      aria-label={label}
      onMouseDown={(event) => {
        event.preventDefault();
      }}
    >
      {items.map((item, at) => (
        <li key={item.value} {...box.option(at)} title={item.label}>
          <span>{item.label}</span>
          <small>{item.note}</small>
        </li>
      ))}
    </ul>
  );
}
