import { messageBatchesRepository } from '../../../src/repositories/messages/batches.ts';
import type { Statement } from '../../../src/repositories/queryable.ts';
import type { SourceFile } from './source-files.ts';

/** The statement that reads who receives a message and whose policies decide about it. */
async function readAudienceStatement(): Promise<string> {
  const read: string[] = [];
  const query = ({ text }: Statement) => Promise.resolve(void read.push(text) as never);
  await messageBatchesRepository({ query }).listAudiences([]);
  return read.join();
}

const audience = await readAudienceStatement();
/** Every table that decides whether a message is accepted, and which agents receive it. */
const relationTables = [
  ...new Set([...audience.matchAll(/\b(?:from|join) ([a-z_]+)\b(?! ?\()/g)].map(([, table = '']) => table)),
];

const write = new RegExp(
  String.raw`\b(insert\s+into|delete\s+from|merge\s+into|truncate|update)\s+(?:only\s+|table\s+)?(?:${relationTables.join('|')})\b`,
  'gi',
);
const setClause = /^(?:\s+(?:as\s+)?(?!set\b)\w+)?\s+set\s([^]*)/i;

/** The SQL texts of a file: what is between backticks or quotation marks. */
const sqlTexts = ({ text }: SourceFile): string[] =>
  text.split('`').flatMap((part, at) => (at % 2 === 1 ? part : part.split('\n')));

const mark = /\braised_id\b|\/\* no version: /;

/** Finds statements that change a table of relations and neither return `raised_id` nor say why no version must rise. */
export function findUnraisedWrites(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    sqlTexts(file)
      .filter((sql) => !mark.test(sql) && changesRelations(sql))
      .map((sql) => `${file.path} changes relations and raises no version: ${sql.trim().slice(0, 80)}`),
  );
}

function changesRelations(sql: string): boolean {
  return [...sql.matchAll(write)].some(({ 0: matched, 1: verb = '', index }) => {
    if (verb.toLowerCase() !== 'update') return true;
    const [, assignments] = setClause.exec(sql.slice(index + matched.length)) ?? [];
    return assignments !== undefined && listSetColumns(assignments).some(isRead);
  });
}

/** An update of other columns changes nothing that the audience is made of. */
const isRead = (column: string): boolean => new RegExp(`\\b${column}\\b`).test(audience);

function listSetColumns(assignments: string): string[] {
  let flat = assignments.replaceAll(/'(?:[^']|'')*'/g, "''");
  while (/\([^()]*\)/.test(flat)) flat = flat.replaceAll(/\([^()]*\)/g, '');
  const [set = ''] = flat.split(/\b(?:from|where|returning)\b/i);
  return [...set.matchAll(/(?:^|,)\s*(\w+)\s*=/g)].map(([, name = '']) => name);
}
