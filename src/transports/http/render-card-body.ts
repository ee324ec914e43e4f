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
const maxCached = 64;
const cache = new Map<string, string>();

/**
 * The body of a card as HTML: rendered without raw HTML, then cut down to harmless elements; as it is written when it has
 * too many parts. A card can take a tenth of a second, and everybody may ask for it: the 64 latest ones are remembered.
 */
export function renderCardBody(source: string): string {
  const html = cache.get(source) ?? render(source);
  cache.delete(source);
  cache.set(source, html);
  const [oldest] = cache.size > maxCached ? cache.keys() : [];
  if (oldest !== undefined) cache.delete(oldest);
  return html;
}

function render(source: string): string {
  const env = {};
  const parts = markdown.parse(source, env);
  if (parts.length > maxTokens) return `<pre>${escapeHtml(source)}</pre>`;
  return sanitize(markdown.renderer.render(parts, markdown.options, env), sanitizeOptions);
}
