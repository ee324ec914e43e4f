import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { referenceClient } from '../../http/authorization-requests.ts';

/** A heading of the sidebar, and its links: address and text. */
export type Contents = readonly (readonly [title: string, links: readonly (readonly [string, string])[]])[];

interface DocsPageProps {
  title: string;
  /** Path of the page. */
  path: string;
  /** Path of the assets, with a slash at its end. */
  folder: string;
  contents: Contents;
  hasScript?: boolean;
  children: ComponentChildren;
}

const links = [
  ['/docs/guide', 'Guide'],
  ['/docs', 'API reference'],
  ['/docs/events', 'Events'],
  ['/console', 'Console'],
] as const;

/** The HTML document of a page under /docs. */
export function renderDocsPage({ title, path, folder, contents, hasScript, children }: DocsPageProps) {
  const section = links.some(([address]) => address === path) ? path : '/docs/guide';
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Agent Messaging Service`}</title>
        {['tokens.css', 'base.css', 'controls.css', 'content.css', 'docs.css'].map((name) => (
          <link rel="stylesheet" href={folder + name} key={name} />
        ))}
        <link rel="icon" type="image/svg+xml" href={`${folder}mark.svg`} />
        {hasScript === true && <script src={`${folder}docs.js`} defer />}
      </head>
      <body class="docs" data-client={referenceClient.client_id}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="docs-top">
          <nav aria-label="Documentation">
            <Links links={links} current={section} />
          </nav>
        </header>
        <div class="docs-body">
          <nav class="docs-contents" aria-label="Contents">
            {contents.map(([heading, entries]) => (
              <div key={heading}>
                <p>{heading}</p>
                <Links links={entries} current={path} />
              </div>
            ))}
          </nav>
          <main id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}

function Links(props: { links: readonly (readonly [string, string])[]; current: string }) {
  return (
    <ul>
      {props.links.map(([address, name]) => (
        <li key={address}>
          <a href={address} aria-current={address === props.current ? 'page' : undefined}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  );
}
