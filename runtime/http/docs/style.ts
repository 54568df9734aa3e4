// The style sheet of the documentation's pages.

export const docsStyle = `body {
  color: #1b1f23;
  font:
    15px/1.5 system-ui,
    sans-serif;
  margin: 0;
}
header {
  align-items: center;
  border-bottom: 1px solid #ddd;
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem 1.5rem;
  padding: 0.6rem 1rem;
}
header nav {
  display: flex;
  gap: 1rem;
}
#session {
  display: flex;
  gap: 0.4rem;
  margin-left: auto;
}
#session[hidden] {
  display: none;
}
#session input {
  width: 11rem;
}
main {
  margin: 0 auto;
  max-width: 80rem;
  padding: 1rem;
}
table {
  border-collapse: collapse;
  width: 100%;
}
th,
td {
  border-bottom: 1px solid #e5e5e5;
  padding: 0.3rem 0.6rem 0.3rem 0;
  text-align: left;
  vertical-align: top;
}
code,
pre,
textarea {
  font:
    13px/1.45 ui-monospace,
    monospace;
}
pre {
  background: #f6f8fa;
  border-radius: 6px;
  margin: 0.3rem 0;
  overflow: auto;
  padding: 0.5rem;
}
details {
  margin: 0.4rem 0;
}
summary {
  cursor: pointer;
}
textarea {
  box-sizing: border-box;
  min-height: 6rem;
  width: 100%;
}
.tag {
  border: 1px solid #bbb;
  border-radius: 9px;
  font-size: 12px;
  margin-left: 0.4rem;
  padding: 0 0.5rem;
}
.columns {
  display: grid;
  gap: 1.5rem;
  grid-template-columns: 1fr 1fr;
}
@media (max-width: 60rem) {
  .columns {
    grid-template-columns: 1fr;
  }
}
#console {
  height: 24rem;
  overflow: auto;
}
#console p {
  border-bottom: 1px solid #eee;
  margin: 0;
  padding: 0.2rem 0;
  white-space: pre-wrap;
  word-break: break-word;
}
.error {
  color: #b00020;
}
`;
