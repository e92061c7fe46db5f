import { Fragment, useState } from 'react';
import { formatCount } from '../format/number.js';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';

/** Every reason for a dash on the page, those of the row where one is first: the mouse has them by pointing, this is for the keyboard. */
export function WhyMissing({ onClose }: { readonly onClose: () => void }) {
  // Looked for once, before the dialog takes the focus from the page.
  const [found] = useState(missingValues);
  const here = found.filter(({ isHere }) => isHere);
  const groups = [
    { name: 'In the current row', values: here },
    { name: here.length > 0 ? 'Elsewhere on the page' : '', values: found.filter(({ isHere }) => !isHere) },
  ];
  return (
    <Overlay title="Why values are missing" onClose={onClose}>
      {found.length === 0 && <p className={styles['hint']}>No value is missing on this page.</p>}
      {groups.map(
        ({ name, values }) =>
          values.length > 0 && (
            <Fragment key={name}>
              {name !== '' && <h3 className={styles['group']}>{name}</h3>}
              <dl className={styles['keys']}>
                {values.map(({ of, reason, count }) => (
                  <Fragment key={`${of} ${reason}`}>
                    <dt>{of === '' ? 'A value' : of}</dt>
                    <dd>
                      {reason}
                      {count > 1 && <span className={styles['times']}> · {formatCount(count)} times</span>}
                    </dd>
                  </Fragment>
                ))}
              </dl>
            </Fragment>
          ),
      )}
    </Overlay>
  );
}

/** A reason why values are missing. */
interface MissingValue {
  /** What they would say, in the words of the page; empty where it has none. */
  readonly of: string;
  readonly reason: string;
  readonly count: number;
  /** One of them is in the row where the focus is. */
  readonly isHere: boolean;
}

/** Why values of the page are missing that are seen: each reason once for what the values would say, in the order of the page. */
function missingValues(): readonly MissingValue[] {
  const here = rowWithFocus();
  const found = new Map<string, MissingValue>();
  for (const dash of document.querySelectorAll<HTMLElement>('main [data-missing]')) {
    if (!dash.checkVisibility()) continue;
    const [of, reason] = [meaningOf(dash), dash.dataset['missing'] ?? ''];
    const key = `${of}\0${reason}`;
    const { count, isHere } = found.get(key) ?? { count: 0, isHere: false };
    found.set(key, { of, reason, count: count + 1, isHere: isHere || here?.contains(dash) === true });
  }
  return [...found.values()];
}

/** Of a table, or of a grid, which has the focus itself and says which of its rows is meant. */
function rowWithFocus(): Element | null {
  const focused = document.activeElement;
  const active = focused?.getAttribute('aria-activedescendant');
  return (active ? document.getElementById(active) : null) ?? focused?.closest('tr, [role="row"]') ?? null;
}

/** The headers of a cell, the name of a fact, or the heading of what it is part of. */
function meaningOf(dash: HTMLElement): string {
  const cell = dash.closest('td, [role="gridcell"]');
  const row = cell?.parentElement;
  if (cell && row) {
    const columns = cell
      .closest('table, [role="treegrid"]')
      ?.querySelectorAll('thead th, [role="columnheader"]');
    const names = [row.querySelector('th[scope="row"]'), columns?.[[...row.children].indexOf(cell)]];
    return names.flatMap((name) => name?.textContent.trim() || []).join(', ');
  }
  let term: Element | null | undefined = dash.closest('dd');
  while (term && term.tagName !== 'DT') term = term.previousElementSibling;
  const heading = term ?? dash.closest('section')?.querySelector('h2, h3');
  return heading?.textContent.trim() ?? '';
}
