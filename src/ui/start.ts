// The entry point: starts loading everything that the address needs.
import { loadPage } from './page-code.js';

// Browsers started with `LANG=C` report the language `en-US@posix`, which `Intl` rejects. Replaced before any
// page module, because uPlot formats with the language on import.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
// The page shows the error when it loads the module again.
loadPage().catch(() => undefined);
void import('./state/queries.js').then(({ ME, queries, ignoreEarlyFailure }) =>
  queries.query(ME).catch(ignoreEarlyFailure),
);
void import('./main.js');
