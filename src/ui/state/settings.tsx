import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';
import { ZONES, type Zone } from '../format/time.js';

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
  const [zone, setZone] = useRemembered('zone', ZONES, 'local');
  const [theme, setTheme] = useRemembered('theme', THEMES, 'system');
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

function useRemembered<Value extends string>(
  name: string,
  values: readonly Value[],
  initial: Value,
): readonly [Value, (value: Value) => void] {
  const key = `jackdaw.${name}`;
  const [value, setValue] = useState(() => {
    try {
      const kept = localStorage.getItem(key);
      return values.find((each) => each === kept) ?? initial;
    } catch {
      // Storage may be denied; settings then last for the page.
      return initial;
    }
  });
  const keep = useMemo(
    () => (next: Value) => {
      setValue(next);
      try {
        localStorage.setItem(key, next);
      } catch {
        // See above.
      }
    },
    [key],
  );
  return [value, keep];
}
