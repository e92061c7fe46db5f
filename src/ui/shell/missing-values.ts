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
export function missingValues(): readonly MissingValue[] {
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
