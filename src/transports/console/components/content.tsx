import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface HeadingProps {
  title: ComponentChildren;
  /** A sentence below it. */
  lead?: ComponentChildren;
  /** Where this page hangs below. */
  back?: { href: string; text: string };
  /** What can be done here, as a button or a link. */
  action?: ComponentChildren;
}

/** The one h1 of a page. */
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
  /** For what cannot be undone. */
  tone?: 'plain' | 'danger';
  children: ComponentChildren;
}

/** A part of a page that belongs together. */
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

/** One or two words on a thing. */
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

/** What a person should read first. */
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

/** In place of a list that has nothing in it: what it is for, and how to begin. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Names and what they are. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, what: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Why what was asked for was refused, when that is of the whole and not of one field. */
export function ErrorNotice({ message }: { message?: string | undefined }) {
  return message === undefined ? null : <Notice tone="danger">{message}</Notice>;
}
