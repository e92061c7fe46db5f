import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { ActionProblem } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { parseState } from '../../state/codec.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { filterQuery, STATE } from '../runs/runs-state.js';
import { RATING } from './Rating.js';
import styles from './run.module.css';

/** Runs loaded at a time; when all are rated, the next are loaded. */
const PAGE_SIZE = 100;

/** The link to a run in a review. @param list query of the list under review */
function reviewHref(id: string, list: string): string {
  return `/traces/${id}?review=${encodeURIComponent(list === '' ? '-' : list)}`;
}

/** The unrated runs of a list, in its order. */
function unratedQuery(list: string) {
  return queryOptions({
    queryKey: ['review', list],
    queryFn: async ({ signal }): Promise<Unrated> => {
      const query = { ...filterQuery(parseState(STATE, list), Date.now()), page_size: PAGE_SIZE };
      const score = [...(query.score ?? []), `!${RATING}`];
      const { items, count } = await bodyOf(
        api.GET('/api/v1/dashboard/traces', { params: { query: { ...query, score } }, signal }),
      );
      return { ids: items.map(({ trace_id: id }) => id), count };
    },
    // The list keeps the place of a run after it is rated.
    structuralSharing: (before, after) => withPlaces(before as Unrated | undefined, after as Unrated),
  });
}

interface Unrated {
  readonly ids: readonly string[];
  readonly count: number | null;
  /** All ids seen in this review, in list order. */
  readonly seen?: readonly string[];
}

/** Keeps rated runs in `seen`, so that a rated run still has neighbours. */
function withPlaces(before: Unrated | undefined, after: Unrated): Unrated {
  const seen = before?.seen ?? before?.ids ?? [];
  return { ...after, seen: [...seen, ...after.ids.filter((id) => !seen.includes(id))] };
}

/** Walks the unrated runs of a list. @param id of the current run @param list query of the list */
export function ReviewBar({ id, list }: { readonly id: string; readonly list: string }) {
  const [, navigate] = useLocation();
  const { data } = useQuery(unratedQuery(list));
  const unrated = new Set(data?.ids);
  const seen = data?.seen ?? data?.ids ?? [];
  const at = seen.indexOf(id);
  const next = seen.find((each, i) => i > at && unrated.has(each));
  const before = seen.findLast((each, i) => i < at && unrated.has(each));
  const go = (to: string | undefined) => (): void => {
    if (to !== undefined) navigate(reviewHref(to, list));
  };
  useShortcuts({ '[': go(before), ']': go(next) });
  const button = cx(parts['button'], parts['iconButton']);
  const left = data === undefined ? '' : formatCounted(data.count ?? data.ids.length, 'unrated run');
  return (
    <div className={styles['review']} role="toolbar" aria-label="Review">
      <strong>Review</strong>
      <span role="status">
        {left}
        {data?.count === null && data.ids.length === PAGE_SIZE && ' or more'}
      </span>
      <button
        type="button"
        className={button}
        aria-label="Previous unrated run"
        title="Previous unrated run ([)"
        disabled={before === undefined}
        onClick={go(before)}
      >
        <ChevronLeft size={16} aria-hidden="true" />
      </button>
      <button
        type="button"
        className={button}
        aria-label="Next unrated run"
        title="Next unrated run (])"
        disabled={next === undefined}
        onClick={go(next)}
      >
        <ChevronRight size={16} aria-hidden="true" />
      </button>
      <Link className={parts['button']} href={`/runs${list === '' ? '' : `?${list}`}`}>
        End review
      </Link>
    </div>
  );
}

/** Opens the first unrated run of a list. */
export function StartReview({ list }: { readonly list: string }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const start = useMutation({
    mutationFn: async () => await client.query({ ...unratedQuery(list), staleTime: 0 }),
    onSuccess: ({ ids: [first] }) => {
      if (first !== undefined) navigate(reviewHref(first, list));
    },
  });
  const isDone = start.data?.ids.length === 0;
  return (
    <>
      <button
        type="button"
        className={parts['button']}
        title="Rate the runs of this list one by one"
        disabled={start.isPending}
        onClick={() => {
          start.mutate();
        }}
      >
        Review
      </button>
      {isDone && <span role="status">All runs of this list are rated.</span>}
      <ActionProblem error={start.error} />
    </>
  );
}
