// The entry point: starts loading everything that the address needs.
import { mendLanguage } from './charts/language.js';
import { loadPage } from './page-code.js';

// Before any page module, because charts read the language on import.
mendLanguage();
// The page shows the error when it loads the module again.
loadPage().catch(() => undefined);
void import('./state/queries.js').then(({ ME, queries, untold }) => queries.query(ME).catch(untold));
void import('./main.js');
