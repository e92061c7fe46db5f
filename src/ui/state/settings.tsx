import { createContext, use, useEffect, useMemo, type ReactNode } from 'react';
import { ZONES, type Zone } from '../format/time.js';
import { useRemembered } from './use-remembered.js';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Display settings stored in the browser. */
interface Settings {
  readonly zone: Zone;
  readonly theme: Theme;
  readonly setZone: (zone: Zone) => void;
  readonly setTheme: (theme: Theme) => void;
}

const SettingsContext = createContext<Settings | undefined>(undefined);

/** Stores time zone and theme in the browser if it allows storage. */
export function SettingsProvider({ children }: { readonly children: ReactNode }) {
  const [zone, setZone] = useRemembered<Zone>('zone', readZone, 'local');
  const [theme, setTheme] = useRemembered<Theme>('theme', readTheme, 'system');
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const value = useMemo(() => ({ zone, theme, setZone, setTheme }), [zone, theme, setZone, setTheme]);
  return <SettingsContext value={value}>{children}</SettingsContext>;
}

export function useSettings(): Settings {
  const settings = use(SettingsContext);
  if (!settings) throw new Error('must be used inside <SettingsProvider>');
  return settings;
}

/** Reads one of some names. */
function oneOfNames<Name extends string>(names: readonly Name[]): (text: string) => Name | undefined {
  return (text) => names.find((name) => name === text);
}

const readZone = oneOfNames(ZONES);
const readTheme = oneOfNames(THEMES);
