import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  line: [
    '{1-40} x {article}   {amount}',
    '{article}, {month}   {amount}',
    '{article} (per unit {amount})   {amount}',
  ],
  article: [
    'Pallet EUR 1200x800',
    'Consulting hours',
    'Copper cable 3x2.5 mm',
    'Hosting plan L',
    'Toner black',
    'Hydraulic hose DN 12',
    'Translation, {400-9000} words',
    'Cleaning of offices',
    'Licence renewal',
  ],
  head: [
    '{company}\n{city}, {country}\n\nINVOICE No. {20000-99999}\nDate: {month} {1-28}\nPayable within {10-60} days\n',
    'Rechnung {2025-2026}-{1000-9999}\n{company}, {city}\nLeistungszeitraum: {month}\n',
    'FACTURE n° {10000-99999}\n{company}\n{city}\nÉchéance: {10-60} jours\n',
  ],
  tax: ['VAT {5-25} %   {amount}', 'MwSt. 19 %   {amount}', 'TVA 20 %   {amount}', 'reverse charge'],
} satisfies Grammar;

const SYSTEM =
  'Extract the invoice from the OCR text. Answer with JSON by the given schema: supplier, invoice_number, issued_on, due_on, currency, lines[] (description, quantity, unit_price, amount), net, tax, gross. Amounts as decimal strings. Use null where the document does not say; never guess a bank account.';

function extraction(recorder: Recorder, lines: number): string {
  const { random } = recorder;
  return JSON.stringify({
    supplier: write(random, GRAMMAR, '{company}'),
    invoice_number: write(random, GRAMMAR, '{10000-99999}'),
    currency: random.pick(['EUR', 'EUR', 'PLN', 'CHF', 'USD']),
    lines: Array.from({ length: lines }, () => ({
      description: write(random, GRAMMAR, '{article}'),
      quantity: random.integer(1, 40),
      amount: write(random, GRAMMAR, '{amount}'),
    })),
    gross: write(random, GRAMMAR, '{amount}'),
  });
}

function run(recorder: Recorder) {
  const { random } = recorder;
  const document = `inbox/${random.uint32().toString(36)}.pdf`;
  return recorder.agent('invoice-extractor', { document }, (root) => {
    recorder.http({
      method: 'GET',
      url: `https://documents.internal.example.com/v1/${document}`,
      ms: 90,
      response: { bytes: random.integer(40_000, 2_400_000) },
    });
    recorder.custom('ocr', { pages: random.integer(1, 4), engine: 'tesseract-5' }, (span) => {
      recorder.pass(1800, 0.5);
      span.output = { confidence: random.integer(71, 99) / 100 };
    });
    const lines = random.integer(2, 6);
    const text = `${write(random, GRAMMAR, '{head}')}\n${writeSeveral(random, GRAMMAR, 'line', 3, '\n')}\n${write(random, GRAMMAR, '{line}\n{line}\n\n{tax}\nTotal {amount}')}`;
    recorder.model({
      model: MODELS.geminiFlash,
      fallback: MODELS.gpt5Mini,
      name: 'extract',
      system: SYSTEM,
      prompt: text,
      completion: extraction(recorder, lines),
      contextTokens: 650,
    });
    let isBalanced = random.chance(0.82);
    const validate = () => {
      recorder.custom('validate totals', { lines }, (span) => {
        recorder.pass(4);
        span.output = isBalanced
          ? { valid: true }
          : { valid: false, difference: write(random, GRAMMAR, '{amount}') };
      });
    };
    validate();
    if (!isBalanced) {
      recorder.model({
        model: MODELS.geminiPro,
        name: 'extract again',
        system: SYSTEM,
        prompt: `${text}\n\nYour lines did not add up to the total. Read the document again, line by line.`,
        completion: extraction(recorder, lines),
        contextTokens: 1400,
        reasoningTokens: 900,
      });
      isBalanced = random.chance(0.7);
      validate();
    }
    recorder.database({
      system: 'postgresql',
      namespace: 'payables',
      name: 'INSERT invoices',
      ms: 9,
      statement:
        'INSERT INTO invoices (document, supplier, gross, currency, state) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (document) DO NOTHING',
      output: { rows: 1 },
    });
    root.output = { state: isBalanced ? 'posted' : 'needs_review' };
    if (!isBalanced) return { outcome: 'needs_review', success: false };
    return drawVerdict(recorder, [
      { outcome: 'posted', success: true, weight: 94 },
      { outcome: 'corrected_by_clerk', success: false, weight: 5 },
    ]);
  });
}

/** Reads invoices that came in and books them, at night. */
export const invoiceExtractor: AgentProfile = {
  name: 'invoice-extractor',
  weight: 17,
  rhythm: 'nightly',
  sdkVersion: '0.4.1',
  metadata: { environment: 'production', team: 'finance-automation', queue: 'invoices' },
  run,
};
