import { useState } from 'react';
import { useLocation } from 'wouter';
import { cx } from '../parts/cx.js';
import { Time } from '../parts/figures.js';
import { Marked } from '../parts/RunTable.js';
import parts from '../parts/parts.module.css';
import { useListbox } from '../parts/use-listbox.js';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';
import { useTargets } from './use-targets.js';

/** Length of an excerpt, and what it has before the first match; more does not fit in a line. */
const [MAX_EXCERPT, BEFORE] = [200, 24];

/** Navigates to pages, named things, and runs and log records that contain words. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const { targets, isSearching } = useTargets(query.trim());
  const box = useListbox(targets.length, 0, (at) => {
    const target = targets[at];
    if (!target) return;
    onClose();
    navigate(target.path);
  });
  return (
    <Overlay title="Go to" onClose={onClose}>
      <input
        {...box.field}
        autoFocus
        className={cx(parts['field'], styles['search'])}
        aria-label="Search pages, names, ids, runs and logs"
        placeholder="A name, an id, or words in runs and logs"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          box.reset();
        }}
      />
      <ul {...box.list} aria-label="Results" className={styles['list']}>
        {targets.map((target, index) => (
          <li key={`${target.kind} ${target.path}`} {...box.option(index)} className={styles['option']}>
            <span>{target.name}</span>
            {target.snippet !== undefined && (
              <span className={styles['snippet']}>
                <Excerpt text={target.snippet} marks={target.marks ?? []} />
              </span>
            )}
            <small>
              {target.kind}
              {target.at !== undefined && (
                <>
                  , <Time at={target.at} relative />
                </>
              )}
            </small>
          </li>
        ))}
      </ul>
      <p className={styles['hint']} role="status">
        {isSearching ? 'Searching runs and logs…' : targets.length === 0 ? 'No results.' : ''}
      </p>
    </Overlay>
  );
}

/** The part of a text around its first match. */
function Excerpt({ text, marks }: { readonly text: string; readonly marks: readonly (readonly number[])[] }) {
  const [[first = 0] = []] = marks;
  const from = Math.max(0, first - BEFORE);
  const shown = text.slice(from, from + MAX_EXCERPT);
  const within = marks
    .map(([start = 0, end = 0]) => [start - from, Math.min(end - from, shown.length)])
    .filter(([start = 0]) => start < shown.length);
  return (
    <>
      {from > 0 && '…'}
      <Marked text={shown} marks={within} />
    </>
  );
}
