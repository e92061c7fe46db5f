import { ChevronDown, ChevronUp, TriangleAlert } from 'lucide-react';
import type { RefObject } from 'react';
import { formatCount } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { useDebounced } from '../../state/use-debounced.js';
import { findSpans } from '../../trace/rows.js';
import { hasFailed } from '../../trace/span.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import type { usePayloadTexts } from './load-run.js';
import type { RunState } from './run-state.js';
import styles from './run.module.css';

interface Props {
  readonly view: TraceView;
  readonly index: number;
  readonly state: RunState;
  readonly payloads: ReturnType<typeof usePayloadTexts>;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly change: (some: Partial<RunState>, step?: 'push' | 'replace') => void;
  readonly show: (index: number, step?: 'push' | 'replace') => void;
}

const SCOPES = {
  all: 'Searches names, types, models, errors, ids, inputs and outputs',
  shown: 'Searches names, types, models, errors, ids and the start of inputs',
};

/** Search, error navigation and timeline options: what the keys do, for the mouse. */
export function RunTools({ view, index, state, payloads, search, change, show }: Props) {
  const [typed, setTyped] = useDebounced(state.q, (q) => {
    change({ q }, 'replace');
  });
  const failed = view.nodes.filter(({ span }) => hasFailed(span)).map((node) => node.index);
  const next = (among: readonly number[], forwards: boolean): void => {
    const at = forwards
      ? (among.find((each) => each > index) ?? among[0])
      : (among.findLast((each) => each < index) ?? among.at(-1));
    if (at !== undefined) show(at);
  };
  /** Searches at once, without waiting for a pause in typing. */
  const find = (forwards: boolean): void => {
    if (typed !== state.q) change({ q: typed }, 'replace');
    next(findSpans(view.nodes, typed, payloads.texts), forwards);
  };
  const hit = view.hits.indexOf(index);
  return (
    <div className={styles['tools']} role="toolbar" aria-label="The run">
      <input
        ref={search}
        type="search"
        className={cx(parts['field'], styles['search'])}
        aria-label="Search this run"
        placeholder="Search this run /"
        title={SCOPES[payloads.isTooLarge ? 'shown' : 'all']}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') find(!event.shiftKey);
          else if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      {state.q !== '' && (
        <span className={styles['hits']} role="status">
          {view.hits.length === 0
            ? payloads.isLoading
              ? 'Searching…'
              : payloads.isTooLarge
                ? 'No match in names, models, errors and the start of inputs; the rest is too large to search'
                : 'No match'
            : `${hit < 0 ? '' : `${formatCount(hit + 1)} of `}${formatCount(view.hits.length)}`}
          <button
            type="button"
            className={cx(parts['button'], parts['iconButton'])}
            aria-label="Previous match"
            onClick={() => {
              next(view.hits, false);
            }}
          >
            <ChevronUp size={14} aria-hidden="true" />
          </button>
          <button
            type="button"
            className={cx(parts['button'], parts['iconButton'])}
            aria-label="Next match"
            onClick={() => {
              next(view.hits, true);
            }}
          >
            <ChevronDown size={14} aria-hidden="true" />
          </button>
        </span>
      )}
      {failed.length > 0 && (
        <button
          type="button"
          className={cx(parts['button'], styles['errors'])}
          onClick={() => {
            next(failed, true);
          }}
        >
          <TriangleAlert size={14} aria-hidden="true" />
          {failed.length === 1 ? '1 error' : `${formatCount(failed.length)} errors`}
        </button>
      )}
      <span className={styles['switches']}>
        <Switch
          name="Critical path"
          hint="C"
          isOn={state.path}
          onToggle={(path) => {
            change({ path });
          }}
        />
        <Switch
          name="Collapse idle time"
          hint="G"
          isOn={state.squeeze}
          onToggle={(squeeze) => {
            change({ squeeze });
          }}
        />
        <Switch
          name="Group repeats"
          hint="R"
          isOn={state.fold}
          onToggle={(fold) => {
            change({ fold });
          }}
        />
        {state.zoom !== '' && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              change({ zoom: '' });
            }}
          >
            Whole run
          </button>
        )}
      </span>
    </div>
  );
}

function Switch({
  name,
  hint,
  isOn,
  onToggle,
}: {
  readonly name: string;
  readonly hint: string;
  readonly isOn: boolean;
  readonly onToggle: (isOn: boolean) => void;
}) {
  return (
    <button
      type="button"
      className={parts['button']}
      aria-pressed={isOn}
      title={`${name} (${hint})`}
      onClick={() => {
        onToggle(!isOn);
      }}
    >
      {name}
    </button>
  );
}
