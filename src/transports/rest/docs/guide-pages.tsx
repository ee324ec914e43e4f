import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { renderDocsPage } from './layout.tsx';
import { Markdown } from './markdown.tsx';

const { resolve } = createRequire(import.meta.url);
const readPage = (name: string) => readFile(resolve(`#docs/${name}.md`), 'utf8');

/** The groups of `docs/README.md` that a page of a service has; the last one is about its source. */
const maxGroups = 4;
const entry = /^\*\*(?<group>.+)\*\*$|^\* \[(?<title>.+?)\]\((?<name>[\w-]+)\.md\)/gm;

/**
 * `/docs/guide` and the other pages of the documentation, by path.
 * @returns what renders each page
 */
export async function guidePages(folder: string): Promise<[string, () => Promise<string>][]> {
  const groups: [string, [string, string][]][] = [];
  for (const { groups: found = {} } of (await readPage('README')).matchAll(entry)) {
    if (found['group'] !== undefined) groups.push([found['group'], []]);
    else groups.at(-1)?.[1].push([`/docs/${found['name']}`, found['title'] ?? '']);
  }
  const contents = groups.slice(0, maxGroups);
  const pages = contents.flatMap(([, entries]) => entries);
  const paths = new Set(pages.map(([path]) => path));
  return pages.map(([path, title]) => [
    path,
    async () =>
      renderDocsPage({
        title,
        path,
        folder,
        contents,
        children: <Markdown text={await readPage(path.slice('/docs/'.length))} toLink={toLink(paths)} />,
      }),
  ]);
}

/** Links lead to pages of this service and to other sites. Other files of the source have no page. */
const toLink = (paths: ReadonlySet<string>) => (address: string) => {
  if (/^(?:#|https?:)/.test(address)) return address;
  const [file = '', anchor] = address.split('#');
  const path = `/docs/${file.replace(/\.md$/, '')}`;
  if (!paths.has(path)) return undefined;
  return anchor === undefined ? path : `${path}#${anchor}`;
};
