import { Bookmark, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../api/client.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import { Popover } from '../parts/Popover.js';
import { useMe } from '../shell/Session.js';
import { rawPath } from '../state/path.js';
import { newId, useViewChange, useViews } from '../state/views.js';
import styles from './list.module.css';

/** Saved lists with their filters, and a form to save the current one. Ctrl+K finds them, too. */
export function Views() {
  return (
    <Popover icon={Bookmark} label="Views">
      {(close) => <SavedViews onOpen={close} />}
    </Popover>
  );
}

function SavedViews({ onOpen }: { readonly onOpen: () => void }) {
  const { scopes } = useMe();
  const canManage = scopes.includes('manage');
  const { data: views, error } = useViews();
  const removal = useViewChange(() => undefined);
  const problem = error ?? removal.error;
  return (
    <>
      {views?.length === 0 && <small className={parts['faint']}>No saved views yet.</small>}
      {views !== undefined && views.length > 0 && (
        <ul aria-label="Saved views" className={styles['list']}>
          {views.map((view) => (
            <li key={view.id}>
              <Link href={view.path} onClick={onOpen}>
                {view.name}
              </Link>
              {view.org_slug !== null && <small className={parts['faint']}>{view.org_slug}</small>}
              {canManage && view.may_change && (
                <button
                  type="button"
                  className={cx(parts['button'], parts['iconButton'])}
                  aria-label={`Remove the view ${view.name}`}
                  disabled={removal.isPending}
                  onClick={() => {
                    removal.mutate({ ...view, name: null });
                  }}
                >
                  <Trash2 size={14} aria-hidden="true" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {canManage ? (
        <Save />
      ) : (
        <small className={parts['faint']}>Saving a view requires the manage scope.</small>
      )}
      {problem && <Problem error={problem} />}
    </>
  );
}

function Save() {
  const { memberships } = useMe();
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const saving = useViewChange(() => {
    setName('');
  });
  return (
    <form
      className={styles['save']}
      onSubmit={(event) => {
        event.preventDefault();
        const path = rawPath() + location.search;
        if (name.trim() !== '' && !saving.isPending)
          saving.mutate({ id: newId(), name: name.trim(), path, org_slug: slug === '' ? null : slug });
      }}
    >
      <input
        className={parts['field']}
        aria-label="View name"
        placeholder="Name for the current view…"
        maxLength={100}
        value={name}
        onChange={(event) => {
          setName(event.target.value);
        }}
      />
      {memberships.length > 0 && (
        <select
          className={parts['field']}
          aria-label="Visible to"
          value={slug}
          onChange={(event) => {
            setSlug(event.target.value);
          }}
        >
          <option value="">Only you</option>
          {memberships.map(({ slug: each, name: called }) => (
            <option key={each} value={each}>
              Members of {called}
            </option>
          ))}
        </select>
      )}
      <button type="submit" className={parts['button']} disabled={name.trim() === '' || saving.isPending}>
        Save
      </button>
      {saving.error && <Problem error={saving.error} />}
    </form>
  );
}

function Problem({ error }: { readonly error: Error }) {
  return (
    <small role="alert" className={parts['bad']}>
      {error instanceof ApiError ? error.message : 'The daemon did not respond.'}
    </small>
  );
}
