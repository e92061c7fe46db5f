// The entry point: starts loading everything that the address needs.
import { fixLanguage } from './charts/language.js';
import { loadPage } from './page-code.js';

// Before any page module, because charts read the language on import.
fixLanguage();
// The page shows the error when it loads the module again.
loadPage().catch(() => undefined);
void import('./state/queries.js').then(({ ME, queries, ignoreEarlyFailure }) =>
  queries.query(ME).catch(ignoreEarlyFailure),
);
void import('./main.js');
