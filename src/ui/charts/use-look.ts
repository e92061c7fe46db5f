import { useSyncExternalStore } from 'react';
import { useSettings } from '../state/settings.js';

const DARK = '(prefers-color-scheme: dark)';

function subscribe(listener: () => void): () => void {
  const query = matchMedia(DARK);
  query.addEventListener('change', listener);
  return () => {
    query.removeEventListener('change', listener);
  };
}

/** @returns which theme is seen; changes with the setting and, where that follows the system, with the system */
export function useLookOfPage(): 'light' | 'dark' {
  const { theme } = useSettings();
  const isDark = useSyncExternalStore(subscribe, () => matchMedia(DARK).matches);
  if (theme !== 'system') return theme;
  return isDark ? 'dark' : 'light';
}
