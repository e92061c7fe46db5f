import { runYamlTests } from '../../support/run-yaml-tests.js';

runYamlTests('src/processors');
