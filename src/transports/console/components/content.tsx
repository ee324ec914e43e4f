import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

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
      {title !== undefined && (
        <div class="card-title">
          <h2>{title}</h2>
          {action}
        </div>
      )}
      {children}
    </section>
  );
}

type Tone = 'plain' | 'good' | 'warning' | 'danger' | 'accent';

/** A label of one or two words. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
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

type Fact = readonly [name: string, value: ComponentChildren];

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
  return text === null || text === '' ? null : <blockquote class="quote">{text}</blockquote>;
}
