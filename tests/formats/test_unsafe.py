"""What a task asks of the machine, by the names that `--allow-unsafe` takes."""

import shlex

import pytest
import yaml

from scenlint.formats.unsafe import in_compose, in_docker_run


@pytest.mark.parametrize(
    ("service", "names"),
    [
        ("{privileged: true}", {"privileged"}),
        ("{privileged: false}", set()),
        ("{cap_add: [SYS_ADMIN]}", {"cap-add"}),
        ("{devices: ['/dev/kvm:/dev/kvm']}", {"devices"}),
        ("{deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}}", {"devices"}),
        ("{deploy: {resources: {limits: {cpus: '1'}}}}", set()),
        ("{security_opt: ['no-new-privileges:true']}", set()),
        ("{security_opt: ['seccomp:unconfined']}", {"security-opt"}),
        ("{network_mode: host, pid: host, ipc: host}", {"host-network", "host-pid", "host-ipc"}),
        ("{network_mode: 'service:db'}", set()),
        ("{pid: 'container:x'}", {"other-container"}),
        ("{volumes_from: [x]}", {"other-container"}),
        ("{volumes: ['data:/data']}", set()),
        ("{volumes: ['/data']}", set()),
        ("{volumes: ['/etc:/host:ro']}", {"host-mount"}),
        ("{volumes: ['~/.ssh:/ssh:ro']}", {"host-mount"}),
        ("{volumes: ['${HOME}/x:/x:ro']}", {"host-mount"}),
        ("{volumes: ['../..:/up:ro']}", {"host-mount"}),
        ("{volumes: ['./data:/data:ro']}", set()),
        ("{volumes: ['../shared:/data:ro']}", set()),  # still in the task
        ("{volumes: ['./data:/data']}", {"host-mount"}),  # trials would write into the task
        ("{volumes: ['/var/run/docker.sock:/var/run/docker.sock']}", {"docker-socket"}),
        ("{volumes: ['${LOGS}:/logs']}", set()),
        ("{volumes: ['${LOGS:-./logs}:${IN:-/logs}']}", set()),
        ("{volumes: ['${LOGS}/../..:/logs']}", {"host-mount"}),
        ("{volumes: [{type: bind, source: /etc, target: /x}]}", {"host-mount"}),
        ("{volumes: [{type: bind, source: ./x, target: /x, read_only: true}]}", set()),
        ("{volumes: [{type: volume, source: data, target: /x}, {type: tmpfs, target: /y}]}", set()),
        ("{build: .}", set()),
        ("{build: '${LOGS}'}", set()),
        ("{build: ../../..}", {"host-files"}),
        ("{build: {context: ., additional_contexts: {all: /}}}", {"host-files"}),
        ("{build: {context: ., network: host, privileged: true}}", {"host-network", "privileged"}),
        ("{build: 'https://example.org/x.git'}", set()),
        ("{env_file: ./x.env}", set()),
        ("{env_file: [{path: /root/.env}]}", {"host-files"}),
        ("{extends: {file: /x.yaml, service: y}}", {"host-files"}),
        ("[]", set()),
    ],
)
def test_services_of_a_compose_file(service, names):
    data = {"services": {"main": yaml.safe_load(service)}}
    assert in_compose(data, "environment", ("LOGS",)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{volumes: {a: null, b: {driver: local}}}", set()),
        ("{volumes: {a: {external: true}}}", {"host-mount"}),
        ("{volumes: {a: {driver_opts: {type: none, o: bind, device: /etc}}}}", {"host-mount"}),
        ("{networks: {a: null, b: {internal: true}}}", set()),
        ("{networks: {a: {external: true}}}", {"external-network"}),
        ("{secrets: {a: {file: ./a}}}", set()),
        ("{secrets: {a: {file: /etc/shadow}}}", {"host-files"}),
        ("{configs: {a: {environment: HOME}}}", {"host-files"}),
        ("{include: [./more.yaml]}", set()),
        ("{include: [{path: [/x.yaml]}]}", {"host-files"}),
        ("{services: nothing, volumes: [], networks: 3}", set()),
    ],
)
def test_the_rest_of_a_compose_file(text, names):
    assert in_compose(yaml.safe_load(text)) == names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("docker run -d --name {container} -p {port}:80 -e A=--privileged app", set()),
        ("docker run --privileged app", {"privileged"}),
        ("docker run app --privileged -v /:/x", set()),  # arguments of the program
        ("docker run -v /etc:/x app", {"host-mount"}),
        ("docker run -v/etc:/x app", {"host-mount"}),
        ("docker run --volume=/etc:/x:ro app", {"host-mount"}),
        ("docker run -v data:/x app", set()),
        ("docker run -v /repo/seed:/x:ro app", set()),
        ("docker run -v /repo/seed:/x app", {"host-mount"}),
        ("docker run -v /repo/../etc:/x:ro app", {"host-mount"}),
        ("docker run --mount type=bind,src=/etc,dst=/x app", {"host-mount"}),
        ("docker run --mount type=bind,src=/repo/a,dst=/x,readonly app", set()),
        ("docker run --mount type=volume,src=data,dst=/x app", set()),
        ("docker run -v /run/docker.sock:/s app", {"docker-socket"}),
        ("docker run --net=host --pid host app", {"host-network", "host-pid"}),
        ("docker run --network container:x app", {"other-container"}),
        ("docker run --cap-add=ALL --device /dev/kvm --gpus all app", {"cap-add", "devices"}),
        ("docker run --security-opt apparmor=unconfined app", {"security-opt"}),
        ("docker run --env-file .env --volumes-from x app", {"host-files", "other-container"}),
    ],
)
def test_docker_run(line, names):
    assert in_docker_run(shlex.split(line), "/repo") == names
