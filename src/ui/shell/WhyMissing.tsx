import { Fragment, useState } from 'react';
import { formatCount } from '../format/number.js';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';

/**
 * All reasons for missing values on the page, those of the focused row first. For keyboards; the mouse has
 * tooltips.
 */
export function WhyMissing({ onClose }: { readonly onClose: () => void }) {
  // Collected once, before the dialog takes the focus.
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

/** A reason with the values it applies to. */
interface MissingValue {
  /** The labels of the values; may be empty. */
  readonly of: string;
  readonly reason: string;
  readonly count: number;
  /** Whether one is in the focused row. */
  readonly isHere: boolean;
}

/** The reasons for visible missing values, each once per label, in page order. */
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

/** The focused row of a table, or the active row of a focused grid. */
function rowWithFocus(): Element | null {
  const focused = document.activeElement;
  const active = focused?.getAttribute('aria-activedescendant');
  return (active ? document.getElementById(active) : null) ?? focused?.closest('tr, [role="row"]') ?? null;
}

/** The headers of a cell, the term of a description list, or the heading above. */
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
