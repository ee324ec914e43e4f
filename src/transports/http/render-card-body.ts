import { LRUCache } from 'lru-cache';
import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';

const markdown = new MarkdownIt({ html: false });
export const { escapeHtml } = markdown.utils;
// A page that loads nothing shows what an image is called.
markdown.renderer.rules.image = (tokens, index) => escapeHtml(tokens[index]?.content ?? '');

const linkPattern = /^(?:https?:\/\/|mailto:)/i;

const sanitizeOptions: sanitize.IOptions = {
  allowedTags:
    'h1 h2 h3 h4 h5 h6 p blockquote pre hr br ul ol li a em strong s code table thead tbody tr th td'.split(
      ' ',
    ),
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  transformTags: {
    a: (tagName, { href }) => ({
      tagName,
      // Nothing relative: it would lead to an address of this service.
      attribs:
        href !== undefined && linkPattern.test(href) ? { href, rel: 'nofollow noopener noreferrer' } : {},
    }),
  },
};

/** Cards that somebody writes have a few thousand parts. A table of two-letter lines gets cells enough for 20 times its text. */
const maxTokens = 20_000;
/** Rendering can take 100 ms, and anybody can request it. */
const cache = new LRUCache<string, string>({ max: 64, memoMethod: render });

/** Renders the Markdown body of a card as safe HTML without raw HTML. A body with too many parts is returned as plain text. */
export function renderCardBody(source: string): string {
  return cache.memo(source);
}

function render(source: string): string {
  const env = {};
  const parts = markdown.parse(source, env);
  if (parts.length > maxTokens) return `<pre>${escapeHtml(source)}</pre>`;
  return sanitize(markdown.renderer.render(parts, markdown.options, env), sanitizeOptions);
}
