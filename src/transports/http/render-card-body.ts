import { LRUCache } from 'lru-cache';
import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';

const markdown = new MarkdownIt({ html: false });
export const { escapeHtml } = markdown.utils;
scrollTables(markdown);
// The page loads no images and shows their alternative text.
markdown.renderer.rules.image = (tokens, index) => escapeHtml(tokens[index]?.content ?? '');

/**
 * Puts tables into groups that scroll, also with the keyboard. Cells do not break words that fit the screen. Columns are aligned by classes,
 * because the pages allow no styles of elements.
 */
export function scrollTables({ renderer: { rules } }: MarkdownIt): void {
  rules['table_open'] = () => '<div class="wide-table" role="group" aria-label="Table" tabindex="0"><table>';
  rules['table_close'] = () => '</table></div>';
  for (const tag of ['th', 'td']) {
    rules[`${tag}_open`] = (tokens, index) => {
      const side = tokens[index]?.attrGet('style')?.replace('text-align:', '');
      return side === undefined ? `<${tag}>` : `<${tag} class="to-${side}">`;
    };
  }
}

const linkPattern = /^(?:https?:\/\/|mailto:)/i;

const sanitizeOptions: sanitize.IOptions = {
  allowedTags:
    'div h1 h2 h3 h4 h5 h6 p blockquote pre hr br ul ol li a em strong s code table thead tbody tr th td'.split(
      ' ',
    ),
  // Only tables have a div. Users cannot write one, because raw HTML is shown as text.
  allowedAttributes: { a: ['href', 'rel', 'target'], div: ['class', 'role', 'aria-label', 'tabindex'] },
  allowedClasses: { th: ['to-*'], td: ['to-*'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  transformTags: {
    a: (tagName, { href }) => ({
      tagName,
      // No relative links: they would point to this service. Links open in another tab: the page may have a form with text.
      attribs:
        href !== undefined && linkPattern.test(href)
          ? { href, rel: 'nofollow noopener noreferrer', target: '_blank' }
          : {},
    }),
  },
};

/**
 * Real cards have some hundred characters of markup, and tables of some hundred cells. The parser takes more than linear time for nested
 * links and emphasis, and fills the cells that the rows of a table lack.
 */
const maxMarkup = 4_000;
const maxCells = 10_000;
const markup = /[\n[\]*_~`|<>&"!\\]/g;

/** Rendering can take tens of milliseconds, and anybody can request it. */
const cache = new LRUCache<string, string>({ max: 64, memoMethod: render });

/**
 * The body of a card as sanitized HTML; as preformatted text when it has too much markup. The 64 most recently used results are
 * cached.
 */
export function renderCardBody(source: string): string {
  return cache.memo(source);
}

function render(source: string): string {
  if (hasTooMuchMarkup(source)) return `<pre>${escapeHtml(source)}</pre>`;
  return sanitize(markdown.render(source), sanitizeOptions);
}

function hasTooMuchMarkup(source: string): boolean {
  if (count(source, markup) > maxMarkup) return true;
  const lines = source.split('\n');
  const columns = lines.reduce((most, line) => Math.max(most, count(line, /\|/g)), 0);
  return columns > 0 && columns * lines.length > maxCells;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
