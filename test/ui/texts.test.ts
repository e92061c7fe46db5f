import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';

/**
 * Every text of the pages by file, for review. Rewrite the list with `UPDATE_TEXTS=1 node dist/test/main.js ui/texts`. Values are in
 * braces. The list also contains some strings that are not shown, such as key names and HTTP methods.
 */

// The compiled file is in dist/test/ui.
const root = join(import.meta.dirname, '../../..');
const list = join(root, 'test/ui/texts.txt');

const NOT_SHOWN = new Set(['className', 'href', 'to', 'd', 'viewBox', 'key', 'id']);

function textsOf(file: string): string[] {
  const text = readFileSync(join(root, 'src/ui', file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  permit(source);
  return found;

  function permit(node: ts.Node): void {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isJsxAttribute(node) && NOT_SHOWN.has(node.name.getText())) return;
    if (ts.isPropertyAssignment(node)) {
      permit(node.initializer);
      return;
    }
    if (ts.isJsxElement(node) || ts.isJsxFragment(node)) {
      const sentence = node.children.some((child) => ts.isJsxText(child) && /\p{L}/u.test(child.text));
      if (sentence) add(inline(node.children));
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const shown = written(node);
      if (/^\p{Lu}|\p{L}.* | .*\p{L}/u.test(shown)) add(shown);
    }
    ts.forEachChild(node, permit);
  }

  function add(sentence: string): void {
    found.push(sentence.replaceAll(/\s+/g, ' ').trim());
  }
}

function written(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  if (!ts.isTemplateExpression(node)) return node.text;
  return node.head.text + node.templateSpans.map((s) => `${value(s.expression)}${s.literal.text}`).join('');
}

/** A value as its name or the function that formats it; texts inside it have their own lines. */
function value(expression: ts.Expression): string {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isCallExpression(expression)) return value(expression.expression);
  return /^[\w.?#]+$/.test(expression.getText()) ? `{${expression.getText()}}` : '{…}';
}

/** The text of an element including inner elements, with values in braces. */
function inline(children: ts.NodeArray<ts.JsxChild>): string {
  return children
    .map((child) => {
      if (ts.isJsxText(child)) return child.text;
      if (ts.isJsxElement(child) || ts.isJsxFragment(child)) return inline(child.children);
      if (ts.isJsxSelfClosingElement(child)) return `<${child.tagName.getText()}>`;
      return child.expression === undefined ? '' : value(child.expression);
    })
    .join('');
}

void t.test('the list of texts is up to date', async (t) => {
  const files = readdirSync(join(root, 'src/ui'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith(join('api', 'generated')))
    .sort();
  const texts = files.flatMap((file) => {
    const own = textsOf(file);
    return own.length === 0 ? [] : [`${file}\n${own.map((text) => `  ${text}\n`).join('')}`];
  });
  const shown = texts.join('\n');
  if (process.env['UPDATE_TEXTS'] !== undefined) writeFileSync(list, shown);
  const help = 'texts changed; review them after UPDATE_TEXTS=1 node dist/test/main.js ui/texts';
  t.same(shown.split('\n'), readFileSync(list, 'utf8').split('\n'), help);
});
