// The first code that runs. It knows nothing but the address, and asks at once for all that is needed for it.
import { mendLanguage } from './charts/language.js';
import { loadPage } from './page-code.js';

// Before the code of any page: charts look at the language when they are loaded.
mendLanguage();
// What fails here fails again where the page is shown, which says so.
loadPage().catch(() => undefined);
void import('./state/queries.js').then(({ ME, queries, untold }) => queries.query(ME).catch(untold));
void import('./main.js');
