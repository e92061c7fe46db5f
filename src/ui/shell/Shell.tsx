import { CircleQuestionMark, LogOut, Search } from 'lucide-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { logOut } from '../api/session.js';
import { zoneLabel } from '../format/time.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import { ALERT_RULES } from '../state/queries.js';
import { useSettings, type Theme } from '../state/settings.js';
import { useShortcuts } from '../state/shortcuts.js';
import { Help } from './Help.js';
import { Jackdaw } from './Jackdaw.js';
import { Palette } from './Palette.js';
import { placesFor } from './places.js';
import { useMe } from './Session.js';
import { WhyMissing } from './WhyMissing.js';
import styles from './Shell.module.css';

/** The frame of every page: navigation, time zone, theme, search and help. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<'palette' | 'help' | 'missing'>();
  const [path] = useLocation();
  // There the key rates the run.
  const isRun = path.startsWith('/traces/');
  useShortcuts({
    'Ctrl+k': () => {
      setOpen('palette');
    },
    '?': () => {
      setOpen('help');
    },
    ...(isRun
      ? {}
      : {
          '-': () => {
            setOpen('missing');
          },
        }),
  });
  const close = (): void => {
    setOpen(undefined);
  };
  return (
    <div className={styles['shell']}>
      <a href="#main" className={styles['skip']} onClick={skip}>
        Skip to content
      </a>
      <header className={styles['rail']}>
        <Link href="/" className={styles['brand']}>
          <Jackdaw size={28} />
          <span>Jackdaw</span>
        </Link>
        <Navigation />
        <div className={styles['tools']}>
          <button
            type="button"
            className={styles['tool']}
            onClick={() => {
              setOpen('palette');
            }}
          >
            <Search size={16} aria-hidden="true" />
            <span>Search…</span>
            <kbd>Ctrl K</kbd>
          </button>
          <button
            type="button"
            className={styles['tool']}
            onClick={() => {
              setOpen('help');
            }}
          >
            <CircleQuestionMark size={16} aria-hidden="true" />
            <span>Shortcuts</span>
            <kbd>?</kbd>
          </button>
          <Appearance />
          <Account />
        </div>
      </header>
      <main id="main" className={styles['main']} tabIndex={-1}>
        {children}
      </main>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
      {open === 'missing' && <WhyMissing onClose={close} />}
    </div>
  );
}

/** Not a link to `#main`, because `<base>` would change the page. */
function skip(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** How often the number of firing alerts is loaded; the page of alerts follows them live. */
const ALERTS_MS = 30_000;

/** The number of firing alerts. */
function useFiringCount(): number {
  const { data } = useQuery({ ...ALERT_RULES, refetchInterval: ALERTS_MS, retry: false });
  return data?.filter(({ is_firing }) => is_firing).length ?? 0;
}

function Navigation() {
  const [path] = useLocation();
  const { scopes } = useMe();
  const firing = useFiringCount();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On narrow screens the navigation scrolls; keep the current page visible.
    const strip = nav.current;
    const here = strip?.querySelector<HTMLElement>('[aria-current]');
    if (strip && here) strip.scrollLeft = here.offsetLeft - (strip.clientWidth - here.offsetWidth) / 2;
  }, [path]);
  return (
    <nav ref={nav} aria-label="Pages" className={styles['nav']}>
      <ul>
        {placesFor(scopes).map(({ path: to, name, icon: Icon, also }) => {
          const isHere = path === to || path.startsWith(also);
          return (
            <li key={to}>
              <Link
                href={to}
                className={cx(styles['place'], isHere && styles['here'])}
                aria-current={path === to ? 'page' : isHere ? 'true' : undefined}
              >
                <Icon size={16} aria-hidden="true" />
                <span>{name}</span>
                {to === '/alerts' && firing > 0 && (
                  <span className={styles['firing']} title={`${String(firing)} firing`}>
                    {firing}
                    <span className={parts['unseen']}> firing</span>
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function Appearance() {
  const { zone, theme, setZone, setTheme } = useSettings();
  return (
    <div className={styles['settings']}>
      <label>
        <span>Zone</span>
        <select
          className={parts['field']}
          value={zone}
          onChange={(event) => {
            setZone(event.target.value === 'utc' ? 'utc' : 'local');
          }}
        >
          <option value="local">Local ({zoneLabel(Date.now(), 'local')})</option>
          <option value="utc">UTC</option>
        </select>
      </label>
      <label>
        <span>Theme</span>
        <select
          className={parts['field']}
          value={theme}
          onChange={(event) => {
            setTheme(event.target.value as Theme);
          }}
        >
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
    </div>
  );
}

function Account() {
  const { user, key_id } = useMe();
  const leave = async (): Promise<void> => {
    await logOut();
    location.reload();
  };
  return (
    <div className={styles['account']}>
      <span title={user.email}>{user.name}</span>
      {key_id !== null && (
        <button
          type="button"
          className={cx(parts['button'], parts['iconButton'])}
          aria-label="Log out"
          onClick={() => void leave()}
        >
          <LogOut size={16} aria-hidden="true" />
        </button>
      )}
    </div>
  );
}
