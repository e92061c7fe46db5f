// The first code that runs. It knows nothing but the address, and asks at once for all that is needed for it.
import { mendLanguage } from './charts/language.js';
import { loadPageCode } from './page-code.js';

// Before the code of any page: charts look at the language when they are loaded.
mendLanguage();
loadPageCode();
void import('./main.js');
