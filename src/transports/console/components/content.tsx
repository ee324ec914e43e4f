import type { ComponentChildren } from 'preact';

const shapes = {
  alert: 'M12 4.5 3.5 19.5h17L12 4.5zM12 10v4.5M12 17.2v.1',
  arrow: 'M5 12h13M13 6.5l5.5 5.5-5.5 5.5',
  back: 'M19 12H6M11 6.5 5.5 12l5.5 5.5',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  computer: 'M4 5.5h16v10.5H4zM9 20h6M12 16v4',
  globe:
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17',
  shield: 'M12 3.5 5 6v5.5c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6l-7-2.5z',
} as const;

export type IconName = keyof typeof shapes;

/** A decorative icon, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}

interface HeadingProps {
  title: ComponentChildren;
  /** Introduction below the title. */
  lead?: ComponentChildren;
  /** Link to the parent page. */
  back?: { href: string; text: string } | undefined;
  /** A button or link beside the title. */
  action?: ComponentChildren;
}

/** The page heading (h1). */
export function Heading({ title, lead, back, action }: HeadingProps) {
  return (
    <div class="heading">
      {back && (
        <a class="back" href={back.href}>
          <Icon name="back" /> {back.text}
        </a>
      )}
      <div class="heading-line">
        <h1>{title}</h1>
        {action}
      </div>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </div>
  );
}

interface CardProps {
  title?: ComponentChildren;
  /** Beside the title. */
  action?: ComponentChildren;
  /** `danger` for actions that cannot be undone. */
  tone?: 'plain' | 'danger';
  children: ComponentChildren;
}

/** A section of a page. */
export function Card({ title, action, tone = 'plain', children }: CardProps) {
  return (
    <section class={`card ${tone}`}>
      {(title ?? action) !== undefined && (
        <div class="card-title">
          {title !== undefined && <h2>{title}</h2>}
          {action}
        </div>
      )}
      {children}
    </section>
  );
}

export type Tone = 'plain' | 'good' | 'warning' | 'danger' | 'accent';

interface BadgeProps {
  tone?: Tone;
  children?: ComponentChildren;
  /** Both of them, for tables of badges. */
  of?: readonly [tone: Tone, text: ComponentChildren];
}

/** A label of one or two words. */
export function Badge({ tone = 'plain', children, of = [tone, children] }: BadgeProps) {
  return <span class={`badge ${of[0]}`}>{of[1]}</span>;
}

const icons: Record<Exclude<Tone, 'plain'>, IconName> = {
  good: 'check',
  warning: 'alert',
  danger: 'alert',
  accent: 'shield',
};

interface NoticeProps {
  tone: Exclude<Tone, 'plain'>;
  title?: string;
  children: ComponentChildren;
}

/** A highlighted message. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon name={icons[tone]} />
      <div>
        {title !== undefined && <p class="notice-title">{title}</p>}
        <p>{children}</p>
      </div>
    </div>
  );
}

interface EmptyProps {
  title: string;
  children: ComponentChildren;
  action?: ComponentChildren;
}

/** Shown in place of an empty list. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
      {action}
    </div>
  );
}

export type Fact = readonly [name: string, value: ComponentChildren];

/** A description list. */
export function Facts({ facts }: { facts: readonly (Fact | false)[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** The error of a whole form, if any. */
export function ErrorNotice({ message }: { message?: string | undefined }) {
  return message === undefined ? null : <Notice tone="danger">{message}</Notice>;
}

/** What somebody wrote. Renders nothing if it is empty. */
export function Quote({ text }: { text: string | null }) {
  // Direction marks could show a person another text than the one to decide about.
  const shown = text?.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '') ?? '';
  return shown === '' ? null : <blockquote class="quote">{shown}</blockquote>;
}
