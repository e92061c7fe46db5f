import { useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { api, bodyOf } from '../api/client.js';
import { useViews } from '../state/views.js';
import { traceIdIn } from '../format/trace-id.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';
import { placesFor } from './places.js';
import { useMe } from './Session.js';

interface Target {
  readonly path: string;
  readonly name: string;
  readonly kind: string;
}

const MOST = 12;

/** Goes to a page, to an agent by its name, to a run by its id. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const targets = useTargets(query.trim());
  const chosen = Math.min(at, targets.length - 1);
  const go = (target: Target | undefined): void => {
    if (!target) return;
    onClose();
    navigate(target.path);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, targets.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter') go(targets[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Overlay title="Go to" onClose={onClose}>
      <input
        autoFocus
        className={cx(parts['field'], styles['search'])}
        role="combobox"
        aria-label="Page, agent, view or id of a run"
        aria-expanded="true"
        aria-controls="targets"
        aria-activedescendant={targets.length > 0 ? `target-${String(chosen)}` : undefined}
        placeholder="Page, agent, view, or the id of a run"
        value={query}
        onKeyDown={press}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
      />
      <ul id="targets" role="listbox" aria-label="Targets" className={styles['list']}>
        {targets.map((target, index) => (
          <li
            key={`${target.kind} ${target.name} ${target.path}`}
            id={`target-${String(index)}`}
            role="option"
            aria-selected={index === chosen}
            className={styles['option']}
            onClick={() => {
              go(target);
            }}
          >
            <span>{target.name}</span>
            <small>{target.kind}</small>
          </li>
        ))}
      </ul>
      {targets.length === 0 && <p className={styles['hint']}>Nothing matches.</p>}
    </Overlay>
  );
}

function useTargets(query: string): readonly Target[] {
  const { data } = useQuery({
    queryKey: ['agents', 'named', query],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/agents', { params: { query: { query, page_size: MOST } }, signal })),
    placeholderData: (before) => before,
  });
  const views = useViews().data ?? [];
  const agents = data === undefined ? [] : Array.isArray(data) ? data : data.items;
  const trace = traceIdIn(query);
  const word = query.toLowerCase();
  const pages = placesFor(useMe().scopes).filter(({ name }) => name.toLowerCase().includes(word));
  return [
    ...(trace === undefined
      ? []
      : [
          { path: `/traces/${trace}`, name: query, kind: 'run' },
          {
            path: `/usage?trace=${trace}`,
            name: 'Where is this trace?',
            kind: 'stored, refused, never seen',
          },
        ]),
    ...views
      .filter(({ name }) => name.toLowerCase().includes(word))
      .map(({ path, name }) => ({ path, name, kind: 'view' })),
    ...pages.map(({ path, name }) => ({ path, name, kind: 'page' })),
    ...agents
      .filter(({ name }) => name.toLowerCase().includes(word))
      .map(({ id, name }) => ({ path: `/agents/${id}`, name, kind: 'agent' })),
  ].slice(0, MOST);
}
