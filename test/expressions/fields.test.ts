import t from 'tap';
import { fieldTables } from '../support/field-tables.js';
import { readProjectFile } from '../support/project-file.js';

void t.test('the page lists every field available to expressions', async (t) => {
  t.ok(readProjectFile('src/expressions/fields.md').includes(fieldTables()), fieldTables());
});
